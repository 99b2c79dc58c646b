/** An hour as the wall shows it: where clocks are changed it may be shorter, or come twice. */
export interface Hour {
  from: Date
  to: Date
  /** On the wall, from 0 to 23. */
  hour: number
}

export interface Day {
  from: Date
  hours: readonly Hour[]
}

const QUARTER_MS = 15 * 60_000
const HOUR_MS = 3_600_000
const ISO_DAY = /^(\d{4})-(\d{2})-(\d{2})$/

type OnWall = (at: Date) => { hour: number; minute: number }
const here: OnWall = (at) => ({ hour: at.getHours(), minute: at.getMinutes() })

/** The date here, in figures. */
export function isoDay(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

/** Midnight here of a date in figures; undefined for what is none. */
export function dayFrom(text: string): Date | undefined {
  const [, year, month, day] = ISO_DAY.exec(text) ?? []
  if (year === undefined) return undefined
  const at = new Date(Number(year), Number(month) - 1, Number(day))
  return isoDay(at) === text ? at : undefined
}

/** Midnight of the day of an instant, so many days later. */
export function midnightOf(at: Date, daysLater = 0): Date {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + daysLater)
}

/** The seven days from one on. */
export function daysFrom(first: Date): Day[] {
  return Array.from({ length: 7 }, (_, index) => ({
    from: midnightOf(first, index),
    hours: hoursBetween(midnightOf(first, index), midnightOf(first, index + 1)),
  }))
}

/**
 * The hours of a day. Clocks are changed by quarters of an hour at the finest: an hour ends where the wall shows another, or the same
 * minutes again.
 */
export function hoursBetween(from: Date, to: Date, onWall: OnWall = here): Hour[] {
  const hours: Hour[] = []
  let last = { hour: -1, minute: -1 }
  for (let at = from.getTime(); at < to.getTime(); at += QUARTER_MS) {
    const shown = onWall(new Date(at))
    if (shown.hour !== last.hour || shown.minute < last.minute) {
      hours.push({ from: new Date(at), to, hour: shown.hour })
      const before = hours.at(-2)
      if (before) before.to = new Date(at)
    }
    last = shown
  }
  return hours
}

/** Whether the wall shows the same hour again that day. */
export function isTwice(days: readonly Day[], { from, hour }: Hour): boolean {
  const day = days.find(({ hours }) => hours.some((each) => each.from.getTime() === from.getTime()))
  return day !== undefined && day.hours.filter((each) => each.hour === hour).length > 1
}

/** What the forecast is asked for in: hours, unless some of them begin in the midst of one. */
export function stepOf(days: readonly Day[]): number {
  const start = days[0]!.from.getTime()
  const areWhole = days.every(({ hours }) =>
    hours.every(({ from }) => (from.getTime() - start) % HOUR_MS === 0),
  )
  return areWhole ? HOUR_MS : QUARTER_MS
}

/** How many runs each hour has, by when it begins. */
export function runsByHour(
  days: readonly Day[],
  buckets: readonly { from: string; runs: number }[],
): Map<number, number> {
  const hours = days.flatMap((day) => day.hours)
  const runs = new Map(hours.map(({ from }) => [from.getTime(), 0]))
  let index = 0
  for (const bucket of buckets) {
    const at = Date.parse(bucket.from)
    while (index < hours.length && hours[index]!.to.getTime() <= at) index += 1
    const key = hours[index]?.from.getTime()
    if (key !== undefined) runs.set(key, (runs.get(key) ?? 0) + bucket.runs)
  }
  return runs
}
