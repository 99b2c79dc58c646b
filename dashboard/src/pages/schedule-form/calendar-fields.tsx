import { MONTH_NAMES } from '../../../../src/time/describe-rrule.js'
import {
  type CalendarFields as Calendar,
  calendarOf,
  ruleOf,
  WEEKDAYS,
  type Weekday,
} from './calendar-rule.ts'
import { Check } from './choices.tsx'
import type { FormProps } from './form-props.ts'
import { SelectField } from './select-field.tsx'
import { Tabs } from './tabs.tsx'
import { TextField } from './text-field.tsx'

const FREQUENCIES = [
  ['DAILY', 'Days'],
  ['WEEKLY', 'Weeks'],
  ['MONTHLY', 'Months'],
  ['YEARLY', 'Years'],
] as const
const NAMES: Readonly<Record<Weekday, string>> = {
  MO: 'Monday',
  TU: 'Tuesday',
  WE: 'Wednesday',
  TH: 'Thursday',
  FR: 'Friday',
  SA: 'Saturday',
  SU: 'Sunday',
}
const DAY_NAMES = WEEKDAYS.map((day) => [day, NAMES[day]] as const)
const NTHS = [
  ['1', 'first'],
  ['2', 'second'],
  ['3', 'third'],
  ['4', 'fourth'],
  ['-1', 'last'],
] as const
const DAYS = [
  ...Array.from({ length: 31 }, (_, index) => [String(index + 1), String(index + 1)] as const),
  ['-1', 'last day'] as const,
]
const MONTHS = MONTH_NAMES.map((name, index) => [String(index + 1), name] as const)

/** Dates by a rule: put together by fields, or typed. */
export function CalendarFields({ form, change, mistakeAt }: FormProps) {
  const { timing } = form
  const { calendar, isRuleTyped } = timing
  const set = (part: Partial<Calendar>) =>
    change({ timing: { ...timing, calendar: { ...calendar, ...part } } })
  const mistake = mistakeAt('timing.rule', isRuleTyped ? timing.rule : undefined)
  const type = (isTyped: boolean) => {
    const made = ruleOf(calendar)
    const fields = calendarOf(timing.rule)
    // One that was typed, and that the fields cannot show, is still there when somebody comes back to it.
    const isKept = fields === undefined && timing.rule.trim() !== ''
    const typed = isKept || 'mistake' in made ? timing.rule : made.rule
    const shown = fields ?? calendar
    change({
      timing: isTyped
        ? { ...timing, isRuleTyped: true, rule: typed }
        : { ...timing, isRuleTyped: false, calendar: shown },
    })
  }
  return (
    <>
      {isRuleTyped ? (
        <TextField
          label="Rule"
          value={timing.rule}
          onChange={(rule) => change({ timing: { ...timing, rule } })}
          mistake={mistake}
          isCode
          rows={3}
          placeholder="FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9;BYMINUTE=0"
          help="As in RFC 5545: the rule alone, or lines with DTSTART, RRULE, RDATE and EXDATE."
        />
      ) : (
        <ByFields calendar={calendar} set={set} mistake={mistake} />
      )}
      <Check
        label="Type the rule myself"
        help={
          isRuleTyped && calendarOf(timing.rule) === undefined && timing.rule.trim() !== ''
            ? 'The fields cannot show this rule. It is kept while you look at them.'
            : 'For what the fields cannot say, such as single dates that are left out.'
        }
        isChecked={isRuleTyped}
        onChange={type}
      />
    </>
  )
}

interface ByFieldsProps {
  calendar: Calendar
  set: (part: Partial<Calendar>) => void
  mistake: string | undefined
}

function ByFields({ calendar, set, mistake }: ByFieldsProps) {
  const { frequency, weekdays, by } = calendar
  const isByDate = frequency === 'MONTHLY' || frequency === 'YEARLY'
  const toggle = (day: Weekday, isOn: boolean) =>
    set({ weekdays: isOn ? [...weekdays, day] : weekdays.filter((each) => each !== day) })
  return (
    <>
      <div className="flex flex-wrap items-end gap-4">
        <TextField
          label="Every"
          value={calendar.interval}
          onChange={(interval) => set({ interval })}
          className="w-20"
        />
        <div className="pb-1">
          <Tabs
            legend="Unit"
            isLegendHidden
            choices={FREQUENCIES}
            value={frequency}
            onChange={(to) => set({ frequency: to })}
          />
        </div>
      </div>
      {frequency === 'WEEKLY' && (
        <fieldset>
          <legend className="mb-1 font-medium">On</legend>
          <div className="flex flex-wrap gap-x-4 gap-y-1.5">
            {DAY_NAMES.map(([day, label]) => (
              <label key={day} className="flex cursor-pointer items-center gap-1.5">
                <input
                  type="checkbox"
                  className="accent-accent"
                  checked={weekdays.includes(day)}
                  onChange={({ target }) => toggle(day, target.checked)}
                />
                {label}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      {isByDate && (
        <div className="flex flex-wrap items-end gap-4">
          {frequency === 'YEARLY' && (
            <SelectField
              isNarrow
              label="In"
              choices={MONTHS}
              value={calendar.month}
              onChange={(month) => set({ month })}
            />
          )}
          <SelectField
            isNarrow
            label="By"
            choices={[
              ['day', 'day of the month'],
              ['weekday', 'weekday'],
            ]}
            value={by}
            onChange={(to) => set({ by: to })}
          />
          {by === 'day' ? (
            <SelectField
              isNarrow
              label="Day"
              choices={DAYS}
              value={calendar.day}
              onChange={(day) => set({ day })}
            />
          ) : (
            <>
              <SelectField
                isNarrow
                label="On the"
                choices={NTHS}
                value={calendar.nth}
                onChange={(nth) => set({ nth })}
              />
              <SelectField
                isNarrow
                label="Weekday"
                choices={DAY_NAMES}
                value={calendar.weekday}
                onChange={(weekday) => set({ weekday })}
              />
            </>
          )}
        </div>
      )}
      <TextField
        label="At"
        value={calendar.times}
        onChange={(times) => set({ times })}
        mistake={mistake}
        placeholder="09:00"
        help="Times of the day, such as 09:00, 17:00. Days that a month does not have are left out."
        className="max-w-96"
      />
    </>
  )
}
