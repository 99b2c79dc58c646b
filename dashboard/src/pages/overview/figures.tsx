import { useQuery } from '@tanstack/react-query'
import { statsQuery } from '../../api/queries.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { count } from '../../time/format.ts'
import { span } from '../../time/relative.ts'
import { Figure } from './figure.tsx'

/** Counts of what there is and of what happened. */
export function Figures() {
  return (
    <Loaded query={useQuery(statsQuery)}>
      {({ schedules, open, ended: { lastHour, lastDay }, lateness }) => (
        <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-4">
          <Figure
            name="Schedules"
            value={count(schedules.active)}
            unit="active"
            parts={[
              [schedules.paused, 'paused'],
              [schedules.broken, 'broken', 'bad'],
              [schedules.finished, 'finished'],
            ]}
          />
          <Figure
            name="Open runs"
            value={count(open.running)}
            unit="running"
            parts={[
              [open.pending, 'pending'],
              [open.retrying, 'retrying', 'warn'],
            ]}
          />
          <Figure
            name="Last hour"
            value={count(lastHour.succeeded)}
            unit="succeeded"
            parts={[[lastHour.failed, 'failed', 'bad']]}
            note={`Last day: ${count(lastDay.succeeded)} succeeded, ${count(lastDay.failed)} failed`}
          />
          <Figure
            name="Lateness"
            value={lateness === null ? '–' : span(lateness.p50)}
            unit={lateness === null ? 'no run yet' : 'median'}
            {...(lateness !== null && { note: `95 %: ${span(lateness.p95)} · 99 %: ${span(lateness.p99)}` })}
          />
        </dl>
      )}
    </Loaded>
  )
}
