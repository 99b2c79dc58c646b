import type { Schedule } from '../../api/client.ts'
import { timingInWords } from '../../schedules/timing-words.ts'
import { wholeTime } from './plan-time.tsx'

export interface FieldChange {
  field: string
  before: unknown
  after: unknown
}

/** Fields that differ, with what they hold before and after. */
export function FieldChanges({ changes }: { changes: readonly FieldChange[] }) {
  return (
    <dl className="grid gap-2">
      {changes.map(({ field, before, after }) => (
        <div key={field} className="grid min-w-0 gap-0.5 sm:grid-cols-[8rem_minmax(0,1fr)]">
          <dt className="font-mono text-muted text-xs leading-5">{field}</dt>
          <dd className="min-w-0 [overflow-wrap:anywhere]">
            <del className="block text-bad no-underline before:mr-1.5 before:font-mono before:content-['-']">
              {inWords(field, before)}
            </del>
            <ins className="block text-good no-underline before:mr-1.5 before:font-mono before:content-['+']">
              {inWords(field, after)}
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function inWords(field: string, value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (field === 'timing') return timingInWords(value as Schedule['timing'])
  if (typeof value !== 'string') return JSON.stringify(value)
  if (!field.endsWith('At')) return value
  return /Z$/.test(value) ? wholeTime(new Date(value)) : value.replace('T', ' ')
}
