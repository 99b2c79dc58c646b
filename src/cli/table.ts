import { stripVTControlCharacters } from 'node:util'

/** Columns as wide as their widest cell, two spaces apart. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(visibleLength(title), ...rows.map((row) => visibleLength(row[column] ?? ''))),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell + ' '.repeat(widths[column]! - visibleLength(cell)))
      .join('  ')
      .trimEnd()
  return [header, ...rows].map(line).join('\n')
}

function visibleLength(text: string): number {
  return stripVTControlCharacters(text).length
}
