import type { FormProps } from './form-props.ts'
import { SelectField } from './select-field.tsx'
import { TextField } from './text-field.tsx'

const EXAMPLES = [
  ['0 9 * * MON-FRI', 'weekdays at nine'],
  ['*/15 * * * *', 'every quarter of an hour'],
  ['30 2 * * SUN', 'Sundays at half past two'],
  ['0 0 L * *', 'the last day of a month'],
  ['0 8 * * MON#1', 'the first Monday of a month'],
  ['*/10 * * * * *', 'every ten seconds'],
] as const
const GAP = [
  ['', 'As the hours ask for'],
  ['shift', 'Move it behind the gap'],
  ['skip', 'Leave it out'],
] as const
const FOLD = [
  ['', 'As the hours ask for'],
  ['first', 'The first showing'],
  ['second', 'The second showing'],
  ['both', 'Both showings'],
] as const

/** A line of a crontab; what it means, and what is wrong with it, is said as it is typed. */
export function CronFields({ form, change, mistakeAt }: FormProps) {
  const { timing } = form
  const set = (part: Partial<typeof timing>) => change({ timing: { ...timing, ...part } })
  return (
    <>
      <TextField
        label="Expression"
        value={timing.expression}
        onChange={(expression) => set({ expression })}
        mistake={mistakeAt('timing.expression', timing.expression)}
        isCode
        placeholder="0 9 * * MON-FRI"
        help="Minute, hour, day of the month, month, day of the week; a sixth field in front of them is for seconds. Names, lists, ranges, steps, L, W, # and @daily are understood."
      />
      <div>
        <p className="mb-1 text-muted text-xs">For example</p>
        <div className="flex flex-wrap gap-1.5">
          {EXAMPLES.map(([expression, words]) => (
            <button
              key={expression}
              type="button"
              title={words}
              onClick={() => set({ expression })}
              className="rounded-md border border-line bg-raised px-2 py-0.5 font-mono text-xs hover:border-edge"
            >
              {expression}
            </button>
          ))}
        </div>
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="A time that the clock skips"
          help="In spring. Fixed hours are moved, wildcard hours are left out."
          choices={GAP}
          value={timing.gap}
          onChange={(gap) => set({ gap })}
        />
        <SelectField
          label="A time that shows twice"
          help="In autumn. Fixed hours take the first, wildcard hours both."
          choices={FOLD}
          value={timing.fold}
          onChange={(fold) => set({ fold })}
        />
      </div>
    </>
  )
}
