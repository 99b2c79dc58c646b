import { useQuery } from '@tanstack/react-query'
import { workersQuery } from '../api/queries.ts'
import { Badge } from '../parts/badge.tsx'
import { Card } from '../parts/card.tsx'
import { Empty } from '../parts/empty.tsx'
import { Head } from '../parts/head.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { bodyCell, numberCell, Table } from '../parts/table.tsx'
import { count } from '../time/format.ts'
import { Moment } from '../time/moment.tsx'

/** Who works, with which version, on what. */
export function Workers() {
  const query = useQuery(workersQuery)
  const versions = new Set(query.data?.workers.map(({ version }) => version))
  return (
    <Card title="Workers" aside={versions.size > 1 ? `${versions.size} versions at once` : undefined}>
      <Loaded query={query}>
        {({ workers }) =>
          workers.length === 0 ? (
            <Empty title="No worker runs." command="escapement worker">
              Runs wait until one does. Start one beside your jobs:
            </Empty>
          ) : (
            <Table label="Workers">
              <Head
                columns={['Worker', 'State', 'Version', 'Running', 'Queues', 'Jobs', 'Started', 'Seen']}
                numbers={['Running']}
              />
              <tbody>
                {workers.map((worker) => (
                  <tr key={worker.id}>
                    <th scope="row" className={`${bodyCell} whitespace-nowrap font-medium`} title={worker.id}>
                      {worker.host} <span className="font-normal text-muted">pid {worker.pid}</span>
                    </th>
                    <td className={bodyCell}>
                      <Badge tone={worker.state === 'alive' ? 'good' : 'bad'}>{worker.state}</Badge>
                    </td>
                    <td className={`${bodyCell} tabular-nums`}>{worker.version}</td>
                    <td className={numberCell}>
                      {count(worker.running)}{' '}
                      <span className="text-muted">of {count(worker.concurrency)}</span>
                    </td>
                    <td className={bodyCell}>
                      {worker.queues.length === 0 ? 'all' : worker.queues.join(', ')}
                    </td>
                    <td className={`${bodyCell} min-w-44`} title={worker.jobs.join(', ')}>
                      {someOf(worker.jobs)}
                    </td>
                    <td className={`${bodyCell} text-muted`}>
                      <Moment at={worker.startedAt} />
                    </td>
                    <td className={`${bodyCell} text-muted`}>
                      <Moment at={worker.seenAt} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </Table>
          )
        }
      </Loaded>
    </Card>
  )
}

/** A worker may have hundreds of jobs: all are told when they are pointed at. */
const MOST_NAMES = 6

function someOf(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const rest = names.length - MOST_NAMES
  return names.slice(0, MOST_NAMES).join(', ') + (rest > 0 ? ` and ${count(rest)} more` : '')
}
