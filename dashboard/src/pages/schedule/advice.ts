/** What to do about what the server refused, by its code; undefined where its own words say all. */
export function adviceOn(code: string | undefined): string | undefined {
  return code === undefined ? undefined : ADVICE[code]
}

const ADVICE: Readonly<Record<string, string>> = {
  gate_closed: 'Mend what the gate of its job asks for, and try again. Nothing was changed.',
  gate_unavailable: 'Its gate is code of a worker. Try again where that code is: nothing was changed.',
  run_open: 'If that run should not go on, cancel it first.',
  already_decided: 'What became of that plan time is in the run log.',
  schedule_exists: 'Choose a name that no other schedule has.',
  schedule_not_found: 'It was renamed or deleted in the meantime.',
  schedule_invalid: 'Change what is named here, and try again.',
  version_conflict: 'Somebody changed it in the meantime. Look at it as it is now, and try again.',
  input_invalid: 'Change the input so that its job takes it, and try again: it is kept as you typed it.',
  range_too_large: 'Choose a shorter range, and go on with the rest after it.',
  forbidden: 'Somebody with another role may.',
}
