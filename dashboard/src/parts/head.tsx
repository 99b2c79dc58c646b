import { headCell } from './table.tsx'

interface HeadProps {
  columns: readonly string[]
  /** Those that have their figures on the right. */
  numbers?: readonly string[]
  /** Those that are not there on a narrow screen. */
  middle?: readonly string[]
  /** Those that are there only where there is room. */
  wide?: readonly string[]
  /** Those whose names are only heard. */
  heard?: readonly string[]
}

/** The head of a table. */
export function Head({ columns, numbers = [], middle = [], wide = [], heard = [] }: HeadProps) {
  const styleOf = (column: string) =>
    [
      headCell,
      numbers.includes(column) && 'text-right',
      middle.includes(column) && 'max-md:hidden',
      wide.includes(column) && 'max-lg:hidden',
    ]
      .filter(Boolean)
      .join(' ')
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column} scope="col" className={styleOf(column)}>
            {heard.includes(column) ? <span className="sr-only">{column}</span> : column}
          </th>
        ))}
      </tr>
    </thead>
  )
}
