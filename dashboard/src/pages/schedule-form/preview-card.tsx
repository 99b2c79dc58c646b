import { useQuery } from '@tanstack/react-query'
import { Card } from '../../parts/card.tsx'
import { Failure } from '../../parts/failure.tsx'
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
    <ol className="divide-y divide-line text-[0.8125rem]">
      {isElsewhere && (
        <li
          aria-hidden="true"
          className="grid grid-cols-2 gap-x-3 px-4 py-2 text-muted text-xs max-sm:hidden"
        >
          <span>In {there}</span>
          <span>Here</span>
        </li>
      )}
      {occurrences.map(({ planTime, local, note }) => (
        <li key={planTime} className="grid gap-x-3 gap-y-0.5 px-4 py-2 sm:grid-cols-2">
          {isElsewhere && (
            <span>
              <span className="sr-only">In {there} </span>
              {isKnownZone(zone) ? <PlanTime at={planTime} zone={zone} /> : local}
            </span>
          )}
          <span className={isElsewhere ? 'max-sm:text-muted max-sm:text-xs' : ''}>
            {isElsewhere && <span className="sm:sr-only">Here </span>}
            <PlanTime at={planTime} />
          </span>
          {note !== undefined && <span className="col-span-full text-pretty text-warn text-xs">{note}</span>}
        </li>
      ))}
    </ol>
  )
}
