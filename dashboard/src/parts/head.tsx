import { headCell } from './table.tsx'

interface HeadProps {
  columns: readonly string[]
  /** Those that have their figures on the right. */
  numbers?: readonly string[]
  /** Those that are there only where there is room. */
  wide?: readonly string[]
}

/** The head of a table. */
export function Head({ columns, numbers = [], wide = [] }: HeadProps) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th
            key={column}
            scope="col"
            className={`${headCell} ${numbers.includes(column) ? 'text-right' : ''} ${wide.includes(column) ? 'max-lg:hidden' : ''}`}
          >
            {column}
          </th>
        ))}
      </tr>
    </thead>
  )
}
