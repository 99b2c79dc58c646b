import { Head } from '../../../parts/head.tsx'
import { bodyCell, numberCell, Table } from '../../../parts/table.tsx'
import { count } from '../../../time/format.ts'
import { span as duration } from '../../../time/relative.ts'
import type { Point } from './points.ts'
import type { Span } from './spans.ts'
import { whenOf } from './words.ts'

const NUMBERS = ['Succeeded', 'Failed', 'Cancelled, skipped', 'Median', '95 %', '99 %', 'Longest'] as const
const COLUMNS = ['From', ...NUMBERS]

/** The same in figures, the newest first, without what is empty. */
export function HistoryTable({ points, span }: { points: readonly Point[]; span: Span }) {
  const told = points.filter(({ ended, lateness }) => ended > 0 || lateness !== null).toReversed()
  return (
    <details className="border-line border-t">
      <summary className="cursor-pointer px-4 py-2 text-muted text-xs focus-visible:-outline-offset-2">
        As a table
      </summary>
      <div className="max-h-80 overflow-y-auto border-line border-t">
        <Table label="Runs and lateness over time">
          <Head columns={COLUMNS} numbers={NUMBERS} />
          <tbody>
            {told.map((point) => (
              <tr key={point.from.getTime()}>
                <th scope="row" className={`${bodyCell} whitespace-nowrap`}>
                  {whenOf(point, span)}
                </th>
                {[point.succeeded, point.failed, point.others].map((number, index) => (
                  <td key={NUMBERS[index]} className={numberCell}>
                    {count(number)}
                  </td>
                ))}
                {(['p50', 'p95', 'p99', 'max'] as const).map((which) => (
                  <td key={which} className={`${numberCell} whitespace-nowrap`}>
                    {point.lateness === null ? '–' : duration(point.lateness[which])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </Table>
      </div>
    </details>
  )
}
