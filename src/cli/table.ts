import stringWidth from 'string-width'

const GAP = '  '
/** No column is made narrower than this to fit. */
const NARROWEST = 8
/** Before a column is made narrower than this, others are left out, if they may be. */
const READABLE = 20

/**
 * Columns as wide as their widest cell, two spaces apart. Where `width` is given, as of a terminal, and the table is wider, the
 * widest columns are cut until it fits; the first, by which a row is named, last of all.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number | undefined = terminalWidth(),
  isRigid: (column: number) => boolean = () => false,
): string {
  const natural = header.map((title, column) =>
    rows.reduce((widest, row) => Math.max(widest, stringWidth(row[column] ?? '')), stringWidth(title)),
  )
  const widths = width === undefined ? natural : fitted(natural, width, isRigid)
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

export interface Column<Item> {
  title: string
  cell(item: Item): string
  /** Left out where the table would not fit; of several the first goes first. */
  isSpare?: boolean
  /** Not cut as long as others can be: what is cut of it says nothing. */
  isRigid?: boolean
}

/** The same of columns that say how they are filled. One that is empty in every row is left out. */
export function formatColumns<Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
  width: number | undefined = terminalWidth(),
): string {
  const filled = columns
    .map((column) => ({ ...column, cells: items.map((item) => column.cell(item)) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
  const readableWidth = ({ title, cells, isRigid }: (typeof filled)[number], index: number) => {
    const natural = cells.reduce((widest, cell) => Math.max(widest, stringWidth(cell)), stringWidth(title))
    return isRigid || index === 0 ? natural : Math.min(natural, READABLE)
  }
  const total = () =>
    filled.reduce((sum, column, index) => sum + readableWidth(column, index) + GAP.length, -GAP.length)
  while (width !== undefined && total() > width) {
    const spare = filled.findIndex(({ isSpare }) => isSpare)
    if (spare === -1) break
    filled.splice(spare, 1)
  }
  return formatTable(
    filled.map(({ title }) => title),
    items.map((_, row) => filled.map(({ cells }) => cells[row]!)),
    width,
    (column) => filled[column]!.isRigid === true,
  )
}

/** Undefined where nobody looks: what goes to a file or a program is not cut. */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns || undefined : undefined
}

function fitted(natural: readonly number[], width: number, isRigid: (column: number) => boolean): number[] {
  const widths = [...natural]
  const excess = () => widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1)) - width
  const shrink = (columns: readonly number[]) => {
    while (excess() > 0) {
      const widest = columns.reduce((a, b) => (widths[b]! > widths[a]! ? b : a))
      if (widths[widest]! <= NARROWEST) return
      widths[widest]!--
    }
  }
  const [first, ...others] = widths.map((_, column) => column)
  for (const columns of [others.filter((one) => !isRigid(one)), others.filter(isRigid), [first!]]) {
    if (columns.length > 0) shrink(columns)
  }
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
