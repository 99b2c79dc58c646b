import stringWidth from 'string-width'

const GAP = '  '
/** No column is made narrower than this to fit. */
const NARROWEST = 8

/**
 * Columns as wide as their widest cell, two spaces apart. Where `width` is given, as of a terminal, and the table is wider, the
 * widest columns are cut until it fits; the first, by which a row is named, last of all.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number | undefined = terminalWidth(),
): string {
  const natural = header.map((title, column) =>
    rows.reduce((widest, row) => Math.max(widest, stringWidth(row[column] ?? '')), stringWidth(title)),
  )
  const widths = width === undefined ? natural : fitted(natural, width)
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const shown = cut(cell, widths[column]!)
        return shown + ' '.repeat(widths[column]! - stringWidth(shown))
      })
      .join(GAP)
      .trimEnd()
  return [header, ...rows].map(line).join('\n')
}

/** Undefined where nobody looks: what goes to a file or a program is not cut. */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns || undefined : undefined
}

function fitted(natural: readonly number[], width: number): number[] {
  const widths = [...natural]
  const excess = () => widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1)) - width
  const shrink = (columns: readonly number[]) => {
    while (excess() > 0) {
      const widest = columns.reduce((a, b) => (widths[b]! > widths[a]! ? b : a))
      if (widths[widest]! <= NARROWEST) return
      widths[widest]!--
    }
  }
  const columns = widths.map((_, column) => column)
  if (columns.length > 1) shrink(columns.slice(1))
  shrink(columns.slice(0, 1))
  return widths
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of a terminal begin with one
const PAINTED = /^((?:\u001b\[[\d;]*m)*)(.*?)((?:\u001b\[[\d;]*m)*)$/su
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** What is too long ends in an ellipsis; a cell that is painted as a whole stays so. */
export function cut(cell: string, width: number): string {
  if (stringWidth(cell) <= width) return cell
  const [, before, text, after] = PAINTED.exec(cell)!
  let kept = ''
  let taken = 0
  for (const { segment } of graphemes.segment(text!)) {
    taken += stringWidth(segment)
    if (taken > width - 1) break
    kept += segment
  }
  return `${before}${kept}…${after}`
}
