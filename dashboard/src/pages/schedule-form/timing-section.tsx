import { Card } from '../../parts/card.tsx'
import { timingInWords } from '../../schedules/timing-words.ts'
import { CalendarFields } from './calendar-fields.tsx'
import { CronFields } from './cron-fields.tsx'
import type { FormProps } from './form-props.ts'
import { IntervalFields } from './interval-fields.tsx'
import type { Reading } from './reading.ts'
import { Tabs } from './tabs.tsx'
import { TextField } from './text-field.tsx'
import { type TimingKind, zoneOfForm } from './timing-form.ts'
import { WallField } from './wall-field.tsx'
import { ZoneField } from './zone-field.tsx'

const KINDS: readonly (readonly [TimingKind, string])[] = [
  ['every', 'Interval'],
  ['rrule', 'Calendar'],
  ['cron', 'Cron'],
  ['once', 'Once'],
  ['after', 'After completion'],
]

export interface TimingSectionProps extends FormProps {
  isNew: boolean
  reading: Reading
}

/** When it runs, by kind; and what that is in words. */
export function TimingSection({ reading, isNew, ...props }: TimingSectionProps) {
  const { form, change, mistakeAt } = props
  const { timing } = form
  const { kind, zone } = timing
  const hasZone = kind !== 'after' && kind !== 'json'
  const general = mistakeAt('timing')
  return (
    <Card title="Timing">
      <div className="grid gap-4 p-4">
        <Tabs
          legend="Kind of timing"
          isLegendHidden
          choices={kind === 'json' ? [...KINDS, ['json', 'As JSON']] : KINDS}
          value={kind}
          onChange={(to) => change({ timing: { ...timing, kind: to } })}
        />
        {kind === 'every' && <IntervalFields {...props} isNew={isNew} />}
        {kind === 'rrule' && <CalendarFields {...props} />}
        {kind === 'cron' && <CronFields {...props} />}
        {kind === 'once' && (
          <WallField
            label="At"
            value={timing.at}
            onChange={(at) => change({ timing: { ...timing, at } })}
            zone={zoneOfForm(timing)}
            mistake={mistakeAt('timing.at', timing.at)}
            help="One that has passed runs at once."
            className="max-w-72"
          />
        )}
        {kind === 'after' && (
          <TextField
            label="Pause between"
            value={timing.interval}
            onChange={(interval) => change({ timing: { ...timing, interval } })}
            mistake={mistakeAt('timing.interval', timing.interval)}
            placeholder="6 hours"
            help="From the end of a run, however it ended, to the next; the first comes so long after it is made. Runs never overlap."
            className="max-w-96"
          />
        )}
        {kind === 'json' && (
          <TextField
            label="Timing as JSON"
            value={timing.json}
            onChange={(json) => change({ timing: { ...timing, json } })}
            mistake={general}
            isCode
            rows={6}
            help="The fields cannot show this timing. It stays as it is unless you change it here."
          />
        )}
        {hasZone && (
          <div className="max-w-96">
            <ZoneField
              value={zone}
              onChange={(to) => change({ timing: { ...timing, zone: to } })}
              mistake={mistakeAt('timing.zone', zone)}
            />
          </div>
        )}
        {kind !== 'json' && general !== undefined && <p className="text-bad text-xs">{general}</p>}
        <p aria-live="polite" className="font-medium">
          {reading.timing && `${timingInWords(reading.timing)}.`}
        </p>
      </div>
    </Card>
  )
}
