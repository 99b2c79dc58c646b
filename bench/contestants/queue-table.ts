import { percentile } from '../figures.js'
import type { Findings } from './measure.js'

/**
 * One row for each figure, one column for each contestant: the median with the lowest and highest. The first contestant
 * is ours; the others say how many times better ours was, as the median of the rounds' own ratios: a round's figures
 * were measured side by side, and what disturbs one disturbs its neighbours.
 */
export function queueTable(findings: ReadonlyMap<string, readonly Findings[]>): string[] {
  const names = [...findings.keys()]
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const lines = [row(['', ...names]), row(['---', ...names.map(() => '---')])]
  for (const figure of FIGURES) {
    const ours = findings.get(names[0]!)!.flatMap(figure.read)
    const cells = names.map((name, index) => {
      const theirs = findings.get(name)!.flatMap(figure.read)
      return spread(theirs, figure.digits) + (index === 0 ? '' : ` · ${times(ours, theirs, figure.better)}`)
    })
    lines.push(row([figure.title, ...cells]))
  }
  return lines
}

interface Figure {
  title: string
  /** One value for each round in which it was looked at. */
  read(findings: Findings): number | []
  better: 'more' | 'less'
  digits: number
}

const FIGURES: readonly Figure[] = [
  {
    title: 'enqueue one by one, 10 callers, /s',
    read: ({ enqueueEach }) => enqueueEach,
    better: 'more',
    digits: 0,
  },
  { title: 'enqueue in bulk, /s', read: ({ enqueueAll }) => enqueueAll, better: 'more', digits: 0 },
  { title: 'drain, one process, /s', read: ({ drainOne }) => drainOne, better: 'more', digits: 0 },
  { title: 'drain, two processes, /s', read: ({ drainTwo }) => drainTwo, better: 'more', digits: 0 },
  {
    title: 'one run on an idle worker, p50 ms',
    read: ({ latencies }) => percentile(latencies, 0.5),
    better: 'less',
    digits: 1,
  },
  {
    title: 'the same, p99 ms',
    read: ({ latencies }) => percentile(latencies, 0.99),
    better: 'less',
    digits: 1,
  },
  {
    title: 'statements of an idle worker, /s',
    read: ({ idle }) => idle?.statementsPerSecond ?? [],
    better: 'less',
    digits: 1,
  },
  {
    title: 'CPU of an idle worker, % of a core',
    read: ({ idle }) => idle?.cpuPercent ?? [],
    better: 'less',
    digits: 2,
  },
]

function spread(values: readonly number[], digits: number): string {
  const text = (value: number) =>
    value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })
  if (values.length === 1) return text(values[0]!)
  return `${text(percentile(values, 0.5))} (${text(Math.min(...values))}–${text(Math.max(...values))})`
}

function times(ours: readonly number[], theirs: readonly number[], better: 'more' | 'less'): string {
  const ratios = ours.map((value, round) =>
    better === 'more' ? value / theirs[round]! : theirs[round]! / value,
  )
  const ratio = percentile(ratios, 0.5)
  return Number.isFinite(ratio) ? `**${ratio.toFixed(2)} ×**` : '–'
}
