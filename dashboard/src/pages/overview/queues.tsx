import { useQuery } from '@tanstack/react-query'
import { queuesQuery } from '../../api/queries.ts'
import { Card } from '../../parts/card.tsx'
import { Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { bodyCell, numberCell, Table } from '../../parts/table.tsx'
import { count } from '../../time/format.ts'
import { Moment } from '../../time/moment.tsx'

/** What waits in each queue, and for how long. */
export function Queues() {
  return (
    <Card title="Queues">
      <Loaded query={useQuery(queuesQuery)}>
        {({ queues }) =>
          queues.length === 0 ? (
            <p className="p-4 text-muted">No run is open.</p>
          ) : (
            <Table label="Queues">
              <Head
                columns={['Queue', 'Ready', 'Waiting', 'Retrying', 'Running', 'Oldest ready']}
                numbers={['Ready', 'Waiting', 'Retrying', 'Running']}
              />
              <tbody>
                {queues.map((queue) => (
                  <tr key={queue.name}>
                    <th scope="row" className={`${bodyCell} font-medium`}>
                      {queue.name}
                    </th>
                    <td className={numberCell}>{count(queue.ready)}</td>
                    <td className={numberCell}>{count(queue.waiting)}</td>
                    <td className={numberCell}>{count(queue.retrying)}</td>
                    <td className={numberCell}>{count(queue.running)}</td>
                    <td className={`${bodyCell} text-muted`}>
                      {queue.oldestReadyAt === null ? '–' : <Moment at={queue.oldestReadyAt} />}
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
