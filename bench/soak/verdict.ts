/** What the samples of a soak say, quarter by quarter: whether handlers begin as late at the end as at the beginning, and what is left lying. */
import { inEnglish, middle } from '../figures.js'
import { type DatabaseState, LASTING, PASSING, sizeOf, type TableState } from './watching.js'

export interface Sample extends DatabaseState {
  /** Where it ends, since the load is held. */
  minute: number
  /** Runs that ended in a second. */
  done: number
  /** Milliseconds by which handlers began later than they might; none where none began. */
  lateness: { p50: number; p99: number } | null
  /** Whether a process was killed in it or just before it. */
  isNearKill: boolean
  /** Whether a stranger's transaction was open in it. */
  isWithStranger: boolean
}

export interface Verdict {
  /** The last quarter's lateness by the first's, both away from kills and from the stranger: medians. */
  ratios: { p50: number; p99: number }
  /** When handlers began late although no process had been killed just before. */
  spells: string[]
  isFlat: boolean
  /** What has grown though it ought not to have. */
  bloat: string[]
}

/** Quarters shorter than five minutes are mostly chance. */
export const SHORTEST_JUDGED_MINUTES = 20
/** Lateness away from kills wavers by a third from one sample to the next. */
const FLAT = 1.5
/** Where half of the handlers begin later than that, something holds them up that is not made up for in a moment. */
const SPELL_MS = 1_000
const STABLE = 1.1
/** What autovacuum leaves lying, and what a page more or less makes of a small table. */
const FEW_ROWS = 50_000
const FEW_BYTES = 8 * 2 ** 20

export function judge(samples: readonly Sample[]): Verdict {
  const [first, , , last] = quartersOf(samples)
  const ratioOf = (of: Late) => quiet(last!, of) / quiet(first!, of)
  const ratios = { p50: ratioOf('p50'), p99: ratioOf('p99') }
  const spells = spellsOf(samples)
  const isFlat = ratios.p50 <= FLAT && ratios.p99 <= FLAT && spells.length === 0
  return { ratios, spells, isFlat, bloat: bloatOf(samples) }
}

/** One that goes on beyond a kill is one. */
function spellsOf(samples: readonly Sample[]): string[] {
  const spells: { from: number; to: number; p50: number }[] = []
  let isIn = false
  let before = 0
  for (const { minute, lateness, isNearKill } of samples) {
    const p50 = lateness?.p50 ?? 0
    const spell = spells.at(-1)
    if (!isNearKill && p50 > SPELL_MS) {
      if (isIn) Object.assign(spell!, { to: minute, p50: Math.max(spell!.p50, p50) })
      else spells.push({ from: before, to: minute, p50 })
      isIn = true
    } else if (!isNearKill) isIn = false
    before = minute
  }
  return spells.map(
    ({ from, to, p50 }) =>
      `from minute ${inEnglish(from, 1)} to ${inEnglish(to, 1)} half of the handlers began up to ${inEnglish(p50)} ms late`,
  )
}

function bloatOf(samples: readonly Sample[]): string[] {
  const [first, , , last] = quartersOf(samples)
  const end = last!.at(-1)!
  const third = Math.ceil(last!.length / 3)
  const [begins, ends] = [last!.slice(0, third), last!.slice(-third)]
  const passing = PASSING.flatMap((table) => {
    const dead = (quarter: readonly Sample[]) => middle(quarter.map(({ tables }) => tables[table].dead))
    // From one visit of autovacuum to the next they grow and shrink: the largest of some minutes tells.
    const largest = (part: readonly Sample[]) => Math.max(...part.map(({ tables }) => sizeOf(tables[table])))
    const [bytesBefore, bytes] = [largest(begins), largest(ends)]
    return [
      ...(dead(last!) > 2 * dead(first!) + FEW_ROWS
        ? [`${table} has ${inEnglish(dead(last!))} dead rows, after ${inEnglish(dead(first!))} at first`]
        : []),
      ...(bytes > STABLE * bytesBefore + FEW_BYTES
        ? [`${table} grew from ${megabytes(bytesBefore)} to ${megabytes(bytes)} MB in the last quarter`]
        : []),
    ]
  })
  const lasting = LASTING.flatMap((table) => {
    const [before, after] = [first!.at(-1)!, end].map(({ tables }) => indexBytesPerRow(tables[table]))
    return after! > STABLE * before!
      ? [`the indexes of ${table} take ${inEnglish(after!)} bytes a row, after ${inEnglish(before!)}`]
      : []
  })
  return [...passing, ...lasting]
}

/** A table of the quarters, in Markdown. */
export function quarterTable(samples: readonly Sample[]): string[] {
  const rows = quartersOf(samples).map((quarter, index) => {
    const end = quarter.at(-1)!
    const p99AtKills = quarter.flatMap(({ isNearKill, lateness }) =>
      isNearKill && lateness ? lateness.p99 : [],
    )
    return [
      `${index + 1}`,
      inEnglish(middle(quarter.map(({ done }) => done))),
      ms(quiet(quarter, 'p50')),
      ms(quiet(quarter, 'p99')),
      ms(middle(p99AtKills)),
      inEnglish(Math.max(...quarter.map(({ backlog }) => backlog))),
      ...PASSING.map((table) => inEnglish(Math.max(...quarter.map(({ tables }) => tables[table].dead)))),
      ...PASSING.map((table) => megabytes(sizeOf(end.tables[table]))),
      ...LASTING.map((table) => inEnglish(indexBytesPerRow(end.tables[table]))),
    ]
  })
  const head = [
    'quarter',
    'done, /s',
    'p50, ms',
    'p99, ms',
    'p99 around kills, ms',
    'most that waited',
    ...PASSING.map((table) => `most dead rows, ${table}`),
    ...PASSING.map((table) => `${table}, MB`),
    ...LASTING.map((table) => `indexes of ${table}, bytes a row`),
  ]
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
}

function quartersOf(samples: readonly Sample[]): (readonly Sample[])[] {
  if (samples.length < 4) throw new Error(`${samples.length} samples have no quarters: soak for longer`)
  const starts = [0, 1, 2, 3].map((index) => Math.floor((index * samples.length) / 4))
  return starts.map((start, index) => samples.slice(start, starts[index + 1]))
}

type Late = 'p50' | 'p99'

/** Where a quarter is nothing but kills or the stranger, all of it. */
function quiet(quarter: readonly Sample[], of: Late): number {
  const late = (some: readonly Sample[]) => some.flatMap(({ lateness }) => lateness?.[of] ?? [])
  const away = late(quarter.filter(({ isNearKill, isWithStranger }) => !isNearKill && !isWithStranger))
  return middle(away.length > 0 ? away : late(quarter))
}

const indexBytesPerRow = ({ indexBytes, rows }: TableState) => indexBytes / Math.max(rows, 1)
/** No handler may have begun in so short a time. */
const ms = (value: number) => (Number.isNaN(value) ? '–' : inEnglish(value))
const megabytes = (bytes: number) => inEnglish(bytes / 2 ** 20, 1)
