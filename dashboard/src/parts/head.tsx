import { headCell } from './table.tsx'

/** The head of a table; a column in `numbers` has its figures on the right. */
export function Head({ columns, numbers = [] }: { columns: readonly string[]; numbers?: readonly string[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th
            key={column}
            scope="col"
            className={numbers.includes(column) ? `${headCell} text-right` : headCell}
          >
            {column}
          </th>
        ))}
      </tr>
    </thead>
  )
}
