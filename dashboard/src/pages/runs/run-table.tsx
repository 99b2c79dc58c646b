import type { Run } from '../../api/client.ts'
import { Head } from '../../parts/head.tsx'
import { Table } from '../../parts/table.tsx'
import { type ListedTime, RunRow } from './run-row.tsx'

/** Where there is little room, what has no column is told under the job. */
export function RunTable({ runs, time }: { runs: readonly Run[]; time: ListedTime }) {
  const when = time === 'end' ? 'Ended' : 'Planned'
  return (
    <Table label="Runs">
      <Head
        columns={['Run of', 'State', 'Trigger', when, 'Took', 'Attempt']}
        numbers={['Took', 'Attempt']}
        middle={['Trigger', when, 'Took']}
        wide={['Attempt']}
      />
      <tbody>
        {runs.map((run) => (
          <RunRow key={run.id} run={run} time={time} />
        ))}
      </tbody>
    </Table>
  )
}
