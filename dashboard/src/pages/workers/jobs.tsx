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
              <Head columns={['Job', 'Workers', ...WIDE]} wide={WIDE} />
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

/** Where there is little room, these are told under the name. */
const WIDE = ['Attempts', 'Timeout', 'At once', 'When a worker is lost']

function JobRow({ job, byId }: { job: Job; byId: ReadonlyMap<string, Worker> }) {
  const alive = aliveOf(job)
  return (
    <tr className={alive.length === 0 ? 'bg-bad-tint' : undefined}>
      <th scope="row" className={`${bodyCell} font-medium [overflow-wrap:anywhere]`}>
        {job.name}
        <div className="grid font-normal text-muted text-xs lg:hidden">
          <span>attempts: {retryWords(job.retry)}</span>
          <span>timeout: {span(job.timeoutMs)}</span>
          <span>at once: {atOnceWords(job)}</span>
          <span>when a worker is lost: {lostWords(job)}</span>
        </div>
      </th>
      <td className={bodyCell}>
        {alive.length === 0 ? (
          <strong className="font-semibold text-bad">nobody has it</strong>
        ) : (
          alive.map(({ id }) => nameOf(id, byId)).join(', ')
        )}
      </td>
      <td className={`${bodyCell} min-w-44 max-lg:hidden`}>{retryWords(job.retry)}</td>
      <td className={`${bodyCell} whitespace-nowrap max-lg:hidden`}>{span(job.timeoutMs)}</td>
      <td className={`${bodyCell} min-w-28 max-lg:hidden`}>{atOnceWords(job)}</td>
      <td className={`${bodyCell} min-w-44 max-lg:hidden`}>{lostWords(job)}</td>
    </tr>
  )
}

const aliveOf = ({ workers }: Job) => workers.filter(({ isAlive }) => isAlive)

function nameOf(id: string, byId: ReadonlyMap<string, Worker>): string {
  const worker = byId.get(id)
  return worker === undefined ? id : `${worker.host} pid ${worker.pid}`
}
