import { useQuery } from '@tanstack/react-query'
import { Card } from '../../parts/card.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Head } from '../../parts/head.tsx'
import { bodyCell, Table } from '../../parts/table.tsx'
import { isKnownZone } from '../../time/zone-switch.tsx'
import type { FormState } from './form-state.ts'
import { PlanTime } from './plan-time.tsx'
import { previewQuery } from './queries.ts'
import { type Fields, type Reading, rootOf } from './reading.ts'
import { zoneOfForm } from './timing-form.ts'
import { usePaused } from './use-paused.ts'
import { HERE } from './zone-field.tsx'

const CONCERNS = ['timing', 'startAt', 'endAt', 'limit']

export interface PreviewCardProps {
  form: FormState
  reading: Reading
  /** Of one that exists: a limit counts from there. */
  createdAt: string | undefined
}

/** The next ten times of what is typed, as the server finds them. */
export function PreviewCard({ form, reading, createdAt }: PreviewCardProps) {
  const isWrong = reading.mistakes.some(({ field }) => CONCERNS.includes(rootOf(field)))
  const asked = JSON.stringify(askedOf(reading.definition, createdAt))
  const settled = usePaused(asked)
  const { data, error, isPlaceholderData } = useQuery({
    ...previewQuery(settled),
    enabled: !isWrong && asked === settled,
  })
  const isBusy = isPlaceholderData || asked !== settled
  const zone = zoneOfForm(form.timing)
  return (
    <Card title="Next times">
      <div aria-live="polite" aria-busy={isBusy}>
        {isWrong && <p className="p-4 text-muted">They are shown when the timing is right.</p>}
        {!isWrong && error && (
          <div className="p-4">
            <Failure error={error} />
          </div>
        )}
        {!isWrong && data && (
          <div className={isBusy ? 'opacity-60' : ''}>
            <Times occurrences={data.occurrences} zone={zone} />
          </div>
        )}
      </div>
    </Card>
  )
}

function askedOf({ timing, startAt, endAt, limit }: Fields, createdAt: string | undefined): Fields {
  const from = startAt ?? (limit === undefined ? undefined : createdAt)
  return {
    timing,
    count: 10,
    ...(from !== undefined && { startAt: from }),
    ...(endAt !== undefined && { endAt }),
    ...(limit !== undefined && { limit }),
  }
}

interface TimesProps {
  occurrences: readonly { planTime: string; local: string; note?: string }[]
  zone: string
}

function Times({ occurrences, zone }: TimesProps) {
  if (occurrences.length === 0) return <p className="p-4 text-muted">None is left to come.</p>
  const isElsewhere = zone !== HERE
  const there = zone.split('/').at(-1)!.replaceAll('_', ' ')
  return (
    <Table label="Next times">
      <Head columns={isElsewhere ? [`In ${there}`, 'Here'] : ['Here']} />
      <tbody>
        {occurrences.map(({ planTime, local, note }) => (
          <tr key={planTime}>
            {isElsewhere && (
              <td className={bodyCell}>
                {isKnownZone(zone) ? <PlanTime at={planTime} zone={zone} /> : local}
                {note !== undefined && <Note text={note} />}
              </td>
            )}
            <td className={bodyCell}>
              <PlanTime at={planTime} />
              {!isElsewhere && note !== undefined && <Note text={note} />}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}

function Note({ text }: { text: string }) {
  return <div className="mt-0.5 text-pretty text-warn text-xs">{text}</div>
}
