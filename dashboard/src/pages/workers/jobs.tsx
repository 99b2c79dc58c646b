import { useQuery } from '@tanstack/react-query'
import type { Job, Worker } from '../../api/client.ts'
import { jobsQuery, workersQuery } from '../../api/queries.ts'
import { Card } from '../../parts/card.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { bodyCell, Table } from '../../parts/table.tsx'
import { count } from '../../time/format.ts'
import { span } from '../../time/relative.ts'
import { atOnceWords, lostWords, retryWords } from './policy-words.ts'

/** What workers can do, by which rules, and which of them can; what none can do is red. */
export function Jobs() {
  const query = useQuery(jobsQuery)
  const { data } = useQuery(workersQuery)
  const byId = new Map(data?.workers.map((worker) => [worker.id, worker]))
  const orphans = query.data?.jobs.filter((job) => aliveOf(job).length === 0).length ?? 0
  return (
    <Card
      title="Jobs"
      aside={orphans > 0 ? <span className="text-bad">{count(orphans)} that no worker has</span> : undefined}
    >
      <Loaded query={query}>
        {({ jobs }) =>
          jobs.length === 0 ? (
            <Empty title="No jobs yet.">
              A worker makes its jobs known when it starts; they are in your code, or in escapement.config.ts.
            </Empty>
          ) : (
            <Table label="Jobs">
              <Head columns={['Job', 'Workers', 'Attempts', 'Timeout', 'At once', 'When a worker is lost']} />
              <tbody>
                {jobs.map((job) => (
                  <JobRow key={job.name} job={job} byId={byId} />
                ))}
              </tbody>
            </Table>
          )
        }
      </Loaded>
    </Card>
  )
}

function JobRow({ job, byId }: { job: Job; byId: ReadonlyMap<string, Worker> }) {
  const alive = aliveOf(job)
  return (
    <tr className={alive.length === 0 ? 'bg-bad-tint' : undefined}>
      <th scope="row" className={`${bodyCell} whitespace-nowrap font-medium`}>
        {job.name}
      </th>
      <td className={`${bodyCell} min-w-44`}>
        {alive.length === 0 ? (
          <strong className="font-semibold text-bad">nobody has it</strong>
        ) : (
          alive.map(({ id }) => nameOf(id, byId)).join(', ')
        )}
      </td>
      <td className={`${bodyCell} min-w-44`}>{retryWords(job.retry)}</td>
      <td className={`${bodyCell} whitespace-nowrap`}>{span(job.timeoutMs)}</td>
      <td className={`${bodyCell} min-w-28`}>{atOnceWords(job)}</td>
      <td className={`${bodyCell} min-w-44`}>{lostWords(job)}</td>
    </tr>
  )
}

const aliveOf = ({ workers }: Job) => workers.filter(({ isAlive }) => isAlive)

function nameOf(id: string, byId: ReadonlyMap<string, Worker>): string {
  const worker = byId.get(id)
  return worker === undefined ? id : `${worker.host} pid ${worker.pid}`
}
