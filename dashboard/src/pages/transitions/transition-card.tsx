import type { Transition } from '../../api/client.ts'
import { Badge } from '../../parts/badge.tsx'
import { Card } from '../../parts/card.tsx'
import { Head } from '../../parts/head.tsx'
import { bodyCell, numberCell, Table } from '../../parts/table.tsx'
import { count } from '../../time/format.ts'
import { Moment } from '../../time/moment.tsx'
import { actionWords } from './action-words.ts'

/** Where the server stops to count. */
const MOST_COUNTED = 10_000
const NUMBERS = ['Due', 'Set aside']

/** One table: what is done at the time of each of its due columns. */
export function TransitionCard({ transition }: { transition: Transition }) {
  const { table, key, rowSecurity, fields } = transition
  return (
    <Card title={table} aside={`by ${key.join(', ')}`}>
      {rowSecurity && (
        <p className="border-line border-b bg-warn-tint px-4 py-2 text-warn">
          The table has row-level security: rows that its policies hide from Escapement’s database user are
          not swept, nor counted.
        </p>
      )}
      <Table label={`Transitions of ${table}`}>
        <Head columns={['At', 'What happens', 'Due', 'Next', 'Set aside']} numbers={NUMBERS} />
        <tbody>
          {fields.map((field) => (
            <tr key={field.field}>
              <th scope="row" className={`${bodyCell} whitespace-nowrap font-medium`}>
                {field.field}
              </th>
              <td className={`${bodyCell} min-w-52`}>{actionWords(field)}</td>
              <td className={numberCell}>
                {count(field.due)}
                {field.due >= MOST_COUNTED && ' or more'}
              </td>
              <td className={`${bodyCell} text-muted`}>
                {field.nextDueAt === null ? 'none' : <Moment at={field.nextDueAt} />}
              </td>
              <td className={numberCell}>
                {field.quarantined === 0 ? 0 : <Badge tone="bad">{count(field.quarantined)}</Badge>}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Card>
  )
}
