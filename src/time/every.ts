import { civilDate, clampedDayNumber, DAY_MS, monthIndex, SECOND_MS, type WallTime } from './calendar.js'
import { type Duration, type DurationInput, formatDuration, readDuration } from './duration.js'
import { formatDateTime, type Instant, type InstantInput, LAST_INSTANT, readDateTime } from './instant.js'
import { readAnchor } from './once.js'
import { quote, type Report } from './report.js'
import { type MappedPattern, mapPattern, SHIFT_AND_FIRST, type WallPattern, wallAt } from './wall-mapping.js'
import { readZoneName, zoneNamed } from './zone.js'

/** anchor + n · every, for whole n from 0 on: a fixed grid. */
export interface EveryTiming {
  kind: 'every'
  /** Elapsed (hours and smaller) or calendar (days and longer) in `zone`, never both. */
  every: string
  /** An instant in UTC (`…Z`), or wall time in `zone`. */
  anchor: string
  zone: string
}

/** `every`: a fixed grid. */
export interface EveryFields {
  /** The step: seconds, minutes and hours are elapsed time, days and longer go by the calendar of the zone. */
  every: DurationInput
  /**
   * Where the grid begins, and so its phase. The default is a Monday and the first of a month and of a year.
   * @default '2001-01-01T00:00:00' in `zone`
   */
  anchor?: InstantInput | undefined
  /**
   * The time zone on whose wall it is, by its IANA name.
   * @default 'UTC'
   */
  zone?: string | undefined
}

export const DEFAULT_ANCHOR = '2001-01-01T00:00:00'

export function readEvery(fields: EveryFields, field: string, report: Report): EveryTiming | undefined {
  const zone = readZoneName(fields.zone, `${field}.zone`, report)
  const anchor = readDateTime(fields.anchor ?? DEFAULT_ANCHOR, `${field}.anchor`, report)
  const step = readStep(fields.every, `${field}.every`, report)
  if (zone === undefined || anchor === undefined || step === undefined) return undefined
  return { kind: 'every', every: formatDuration(step), anchor: formatDateTime(anchor), zone }
}

function readStep(input: unknown, field: string, report: Report): Duration | undefined {
  const step = readDuration(input, field, report)
  if (step === undefined) return undefined
  const { months, days, milliseconds } = step
  const parts = [months, days, milliseconds].filter((part) => part > 0).length
  if (parts === 0) return report(field, `${quote(input)} – must be longer than 0`)
  if (parts > 1) {
    return report(
      field,
      `${quote(input)} – mixes units that have no fixed ratio; keep to years and months, or weeks and days, or hours and smaller`,
    )
  }
  if (milliseconds > 0 && milliseconds < SECOND_MS) {
    return report(field, `${quote(input)} – must be at least 1 second`)
  }
  return step
}

export function mapEvery(timing: EveryTiming, report: Report): MappedPattern | undefined {
  const step = readStep(timing.every, 'timing.every', report)
  const anchor = readAnchor(timing.anchor, timing.zone, 'timing.anchor', report)
  if (step === undefined || anchor === undefined) return undefined
  if (step.milliseconds > 0) return elapsedGrid(anchor, step.milliseconds)
  const zone = zoneNamed(timing.zone)
  const read = readDateTime(timing.anchor, 'timing.anchor', report)!
  const wall = 'wall' in read ? read.wall : wallAt(zone, anchor)
  const pattern = step.days > 0 ? dailyGrid(wall, step.days) : monthlyGrid(wall, step.months)
  return mapPattern(pattern, zone, SHIFT_AND_FIRST)
}

function elapsedGrid(anchor: Instant, step: number): MappedPattern {
  return {
    next(after) {
      const found = anchor + step * Math.max(0, Math.floor((after - anchor) / step) + 1)
      return found <= LAST_INSTANT ? found : null
    },
    previous(before) {
      const found = anchor + step * (Math.ceil((Math.min(before, LAST_INSTANT + 1) - anchor) / step) - 1)
      return found >= anchor ? found : null
    },
  }
}

function dailyGrid(anchor: WallTime, days: number): WallPattern {
  const step = days * DAY_MS
  return {
    atOrAfter: (wall) => anchor + step * Math.max(0, Math.ceil((wall - anchor) / step)),
    atOrBefore: (wall) =>
      wall < anchor ? Number.NEGATIVE_INFINITY : anchor + step * Math.floor((wall - anchor) / step),
  }
}

/** Always counted from the anchor: stepping from a clamped 28 February would lose the 31st for ever. */
function monthlyGrid(anchor: WallTime, months: number): WallPattern {
  const anchorDays = Math.floor(anchor / DAY_MS)
  const timeOfDay = anchor - anchorDays * DAY_MS
  const date = civilDate(anchorDays)
  const anchorMonth = monthIndex(date)
  const nth = (n: number) => clampedDayNumber(anchorMonth + n * months, date.day) * DAY_MS + timeOfDay
  const near = (wall: WallTime) =>
    Math.floor((monthIndex(civilDate(Math.floor(wall / DAY_MS))) - anchorMonth) / months)
  return {
    atOrAfter(wall) {
      const n = Math.max(0, near(wall))
      const found = nth(n)
      return found >= wall ? found : nth(n + 1)
    },
    atOrBefore(wall) {
      if (wall < anchor) return Number.NEGATIVE_INFINITY
      const n = near(wall)
      const found = nth(n)
      return found <= wall ? found : nth(n - 1)
    },
  }
}
