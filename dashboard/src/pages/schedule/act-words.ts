/** What somebody did, as the change log has it, with what it was done to. */
export interface ActWords {
  words: string
  runId?: string
  planTime?: string
}

const WORDS: Readonly<Record<string, string>> = {
  put: 'Put',
  patch: 'Changed',
  sync: 'Put by a sync',
  pause: 'Paused',
  resume: 'Resumed',
  rename: 'Renamed',
  delete: 'Deleted',
  break: 'Taken out after failures',
  finish: 'Finished: no plan time was left',
  zone_data: 'Plan times moved with new data of time zones',
  trigger: 'Triggered',
  skip: 'To be skipped:',
  unskip: 'Not to be skipped any more:',
  backfill: 'Backfilled',
}

/** For people: `trigger 0199…` is “Triggered”, with the id of the run. */
export function actWords(action: string, isCreation: boolean): ActWords {
  const [verb = '', ...rest] = action.split(' ')
  const what = rest.join(' ')
  if (isCreation) return { words: verb === 'sync' ? 'Created by a sync' : 'Created' }
  const words = WORDS[verb]
  if (words === undefined) return { words: action }
  if (verb === 'trigger' && what !== '') return { words, runId: what }
  if ((verb === 'skip' || verb === 'unskip') && what !== '') return { words, planTime: what }
  return { words: what === '' ? words : `${words} ${what}` }
}
