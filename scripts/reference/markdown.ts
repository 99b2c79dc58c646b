export function code(text: string): string {
  return `\`${text}\``
}

/** `npm run format` aligns it. A column that is empty in all rows is left out. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const kept = head.map((_, index) => rows.some((row) => row[index] !== ''))
  const line = (cells: readonly string[]) => {
    const shown = cells.filter((_, index) => kept[index])
    return `| ${shown.map((cell) => cell.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ')).join(' | ')} |`
  }
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** As GitHub makes it of a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}
