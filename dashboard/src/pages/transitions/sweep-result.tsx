import type { SweepReport } from '../../api/client.ts'
import { Card } from '../../parts/card.tsx'
import { Head } from '../../parts/head.tsx'
import { bodyCell, numberCell, Table } from '../../parts/table.tsx'
import { count } from '../../time/format.ts'

const NUMBERS = ['Updated', 'Deleted', 'Left alone', 'Set aside']

/** What one sweep did, table by table, and which rows it could not change. */
export function SweepResult({ report }: { report: SweepReport }) {
  const { tables, errors, truncated } = report
  return (
    <Card title="The sweep" aside={truncated ? 'More is due than fits one batch: sweep again.' : undefined}>
      <p role="status" className="sr-only">
        Swept: {count(report.updated)} updated, {count(report.deleted)} deleted, {count(report.quarantined)}{' '}
        set aside.
      </p>
      <Table label="The sweep">
        <Head columns={['Table', ...NUMBERS]} numbers={NUMBERS} />
        <tbody>
          {tables.map(({ table, updated, deleted, skipped, quarantined }) => (
            <tr key={table}>
              <th scope="row" className={`${bodyCell} whitespace-nowrap font-medium`}>
                {table}
              </th>
              <td className={numberCell}>{count(updated)}</td>
              <td className={numberCell}>{count(deleted)}</td>
              <td className={numberCell}>{count(skipped)}</td>
              <td className={`${numberCell} ${quarantined > 0 ? 'text-bad' : ''}`}>{count(quarantined)}</td>
            </tr>
          ))}
        </tbody>
      </Table>
      {errors.length > 0 && (
        <ul className="divide-y divide-line border-line border-t">
          {errors.map((error) => (
            <li key={JSON.stringify(error)} className="break-words px-4 py-2 text-bad">
              <span className="font-medium">
                {error.table}
                {error.key && ` ${Object.values(error.key).join(', ')}`}:
              </span>{' '}
              {error.message}
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
