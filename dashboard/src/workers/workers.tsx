import { useQuery } from '@tanstack/react-query'
import type { Worker } from '../api/client.ts'
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
                wide={WIDE}
              />
              <tbody>
                {workers.map((worker) => (
                  <tr key={worker.id}>
                    <th
                      scope="row"
                      className={`${bodyCell} font-medium [overflow-wrap:anywhere]`}
                      title={worker.id}
                    >
                      {worker.host}{' '}
                      <span className="whitespace-nowrap font-normal text-muted">pid {worker.pid}</span>
                      <WorkerNote worker={worker} />
                    </th>
                    <td className={bodyCell}>
                      <Badge tone={worker.state === 'alive' ? 'good' : 'bad'}>{worker.state}</Badge>
                    </td>
                    <td className={`${bodyCell} tabular-nums max-lg:hidden`}>{worker.version}</td>
                    <td className={numberCell}>
                      {count(worker.running)}{' '}
                      <span className="text-muted">of {count(worker.concurrency)}</span>
                    </td>
                    <td className={`${bodyCell} max-lg:hidden`}>{queuesOf(worker)}</td>
                    <td className={`${bodyCell} min-w-44 max-lg:hidden`} title={worker.jobs.join(', ')}>
                      {someOf(worker.jobs)}
                    </td>
                    <td className={`${bodyCell} text-muted max-lg:hidden`}>
                      <Moment at={worker.startedAt} />
                    </td>
                    <td className={`${bodyCell} text-muted max-lg:hidden`}>
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

/** Where there is little room, these are told under the name. */
const WIDE = ['Version', 'Queues', 'Jobs', 'Started', 'Seen']

function WorkerNote({ worker }: { worker: Worker }) {
  return (
    <div className="grid font-normal text-muted text-xs lg:hidden">
      <span>version {worker.version}</span>
      <span>queues: {queuesOf(worker)}</span>
      <span>jobs: {someOf(worker.jobs)}</span>
      <span>
        started <Moment at={worker.startedAt} />, seen <Moment at={worker.seenAt} />
      </span>
    </div>
  )
}

const queuesOf = ({ queues }: Worker) => (queues.length === 0 ? 'all' : queues.join(', '))

/** A worker may have hundreds of jobs: all are told when they are pointed at. */
const MOST_NAMES = 6

function someOf(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const rest = names.length - MOST_NAMES
  return names.slice(0, MOST_NAMES).join(', ') + (rest > 0 ? ` and ${count(rest)} more` : '')
}
