import { useQuery } from '@tanstack/react-query'
import { forecastQuery } from '../../api/queries.ts'
import { Card } from '../../parts/card.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { clockTime, count } from '../../time/format.ts'
import { HerdChart } from './herd-chart.tsx'
import { minutesOf } from './herd-minutes.ts'

/** What the next hour asks for, minute by minute. */
export function Herd() {
  const query = useQuery(forecastQuery)
  const minutes = query.data && minutesOf(query.data.buckets, query.data.from)
  const total = minutes?.reduce((sum, { runs }) => sum + runs, 0) ?? 0
  const peak = minutes?.reduce((most, minute) => (minute.runs > most.runs ? minute : most))
  const words =
    peak && total > 0
      ? `${query.data?.isEstimate ? 'about ' : ''}${count(total)} ${total === 1 ? 'run' : 'runs'}, at most ${count(peak.runs)} in a minute, at ${clockTime(peak.from)}`
      : undefined
  return (
    <Card title="The next hour">
      <Loaded query={query}>
        {() =>
          minutes && words !== undefined ? (
            <HerdChart minutes={minutes} words={words} />
          ) : (
            <p className="p-4 text-muted">No schedule has a plan time in the next hour.</p>
          )
        }
      </Loaded>
    </Card>
  )
}
