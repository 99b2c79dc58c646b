import { describeDefaults, describePolicies } from '../../../../src/schedules/describe-policies.js'
import type { Schedule } from '../../api/client.ts'
import { Card } from '../../parts/card.tsx'
import { timingInWords } from '../../schedules/timing-words.ts'

/** What makes a timing what it is comes first. */
const FIRST = ['expression', 'every', 'at', 'interval', 'rule', 'zone']
const rankOf = (field: string) => (FIRST.includes(field) ? FIRST.indexOf(field) : FIRST.length)

/** When it runs, and how it treats its plan times: in words, and as it is kept. */
export function Rules({ schedule }: { schedule: Schedule }) {
  const { timing } = schedule
  const { kind, ...fields } = timing
  const chosen = describePolicies(schedule, kind)
  const usual = describeDefaults(schedule, kind)
  return (
    <Card title="Timing and policies" aside={kind}>
      <div className="grid gap-3 px-4 py-3">
        <p className="font-medium text-pretty">{timingInWords(timing)}</p>
        <dl className="flex flex-wrap gap-x-6 gap-y-1">
          {Object.entries(fields)
            .filter(([, value]) => value !== undefined)
            .sort(([a], [b]) => rankOf(a) - rankOf(b))
            .map(([field, value]) => (
              <div key={field} className="flex min-w-0 flex-wrap items-baseline gap-x-2">
                <dt className="text-muted text-xs">{field}</dt>
                <dd className="min-w-0">
                  <code className="whitespace-pre-wrap font-mono text-xs [overflow-wrap:anywhere]">
                    {typeof value === 'string' ? value : JSON.stringify(value)}
                  </code>
                </dd>
              </div>
            ))}
        </dl>
        <ul className="list-disc pl-5">
          {chosen.map((words) => (
            <li key={words}>{words}</li>
          ))}
          {usual.map((words) => (
            <li key={words} className="text-muted">
              {words} (by default)
            </li>
          ))}
        </ul>
      </div>
    </Card>
  )
}
