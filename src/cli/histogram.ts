export interface Bar {
  label: string
  count: number
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A line for each bar: its label, a bar as long as its share of the largest, and the count. */
export function formatHistogram(bars: readonly Bar[], width: number): string {
  const largest = bars.reduce((most, { count }) => Math.max(most, count), 0)
  const labels = bars.reduce((widest, { label }) => Math.max(widest, label.length), 0)
  const counts = largest.toLocaleString('en').length
  const room = Math.max(width - labels - counts - 4, 10)
  return bars
    .map(({ label, count }) => {
      const bar = count === 0 ? '' : barOf((count / largest) * room)
      return `${label.padEnd(labels)}  ${count.toLocaleString('en').padStart(counts)}  ${bar}`.trimEnd()
    })
    .join('\n')
}

/** To an eighth of a character, and never nothing for something. */
function barOf(length: number): string {
  const eighths = Math.max(Math.round(length * 8), 1)
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]
}
