import type { Run } from '../../api/client.ts'
import { headCell, Table } from '../../parts/table.tsx'
import { type ListedTime, RunRow } from './run-row.tsx'

/** Where there is little room, what has no column is told under the job. */
export function RunTable({ runs, time }: { runs: readonly Run[]; time: ListedTime }) {
  return (
    <Table label="Runs">
      <thead>
        <tr>
          <th scope="col" className={headCell}>
            Run of
          </th>
          <th scope="col" className={headCell}>
            State
          </th>
          <th scope="col" className={`${headCell} max-md:hidden`}>
            Trigger
          </th>
          <th scope="col" className={`${headCell} max-md:hidden`}>
            {time === 'end' ? 'Ended' : 'Planned'}
          </th>
          <th scope="col" className={`${headCell} text-right max-md:hidden`}>
            Took
          </th>
          <th scope="col" className={`${headCell} text-right max-lg:hidden`}>
            Attempt
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <RunRow key={run.id} run={run} time={time} />
        ))}
      </tbody>
    </Table>
  )
}
