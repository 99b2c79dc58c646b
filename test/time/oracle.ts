/**
 * Answers by brute force what `src/time` answers by tables, and shares no code with it: cron texts are matched against
 * each second of wall time on its own, and offsets are what `Intl` prints as a zone's name.
 */

const DAY = 86_400_000

const formatters = new Map<string, Intl.DateTimeFormat>()
const offsets = new Map<string, Map<number, number>>()

/** Wall time minus instant, in milliseconds. Kept by the minute: no zone has changed within one since 1973. */
export function offsetAt(zone: string, instant: number): number {
  let known = offsets.get(zone)
  if (!known) {
    known = new Map()
    offsets.set(zone, known)
  }
  const key = instant < 94_694_400_000 ? instant : Math.floor(instant / 60_000) * 60_000
  let offset = known.get(key)
  if (offset === undefined) {
    offset = printedOffset(zone, instant)
    known.set(key, offset)
  }
  return offset
}

function printedOffset(zone: string, instant: number): number {
  let formatter = formatters.get(zone)
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset' })
    formatters.set(zone, formatter)
  }
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(formatter.format(instant))
  if (!match) throw new Error(`No offset in ${formatter.format(instant)}`)
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = match
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
}

/** Instants from 1970 to 2100 at which the zone's offset changes. */
export function changesOf(zone: string): number[] {
  const changes: number[] = []
  const end = Date.UTC(2100, 0, 1)
  // No two changes lie less than a week apart.
  let after = printedOffset(zone, 0)
  for (let from = 0; from < end; from += 6 * DAY) {
    const before = after
    let low = from
    let high = from + 6 * DAY
    after = printedOffset(zone, high)
    if (before === after) continue
    while (high - low > 1000) {
      const middle = low + Math.floor((high - low) / 2000) * 1000
      if (printedOffset(zone, middle) === before) low = middle
      else high = middle
    }
    changes.push(high)
  }
  return changes
}

export type Gap = 'shift' | 'skip'
export type Fold = 'first' | 'second' | 'both'

/** All instants of one wall time. The offsets a day before and a day after are the only ones it can have. */
export function instantsOf(zone: string, wall: number, gap: Gap, fold: Fold): number[] {
  const before = offsetAt(zone, wall - DAY)
  const after = offsetAt(zone, wall + DAY)
  const found = [...new Set([before, after])]
    .filter((offset) => offsetAt(zone, wall - offset) === offset)
    .map((offset) => wall - offset)
    .sort((a, b) => a - b)
  if (found.length === 0) return gap === 'shift' ? [wall - before] : []
  if (fold === 'both') return found
  return [fold === 'first' ? found[0]! : found.at(-1)!]
}

/** What a cron text yields in [from, to), by walking every second of the wall that could fall into it. */
export function cronOccurrences(
  expression: string,
  zone: string,
  gap: Gap,
  fold: Fold,
  from: number,
  to: number,
): number[] {
  const around = [from - DAY, from, to, to + DAY].map((instant) => offsetAt(zone, instant))
  const first = from + Math.min(...around)
  const last = to + Math.max(...around)
  const cron = new BruteCron(expression)
  const found = new Set<number>()
  for (let day = Math.floor(first / DAY) * DAY; day <= last; day += DAY) {
    if (!cron.matchesDay(day)) continue
    for (const time of cron.times) {
      const wall = day + time
      if (wall < first || wall > last) continue
      for (const instant of instantsOf(zone, wall, gap, fold)) {
        if (instant >= from && instant < to) found.add(instant)
      }
    }
  }
  return [...found].sort((a, b) => a - b)
}

/** The defaults of the design: wildcard hours follow the wall, fixed hours happen once a day. */
export function defaultPolicy(expression: string): { gap: Gap; fold: Fold } {
  const hour = expression.split(' ').at(-4)!
  const every = Array.from({ length: 24 }, (_, value) => value).every((value) =>
    inList(hour, value, 0, 23, []),
  )
  return hour.startsWith('*') || every ? { gap: 'skip', fold: 'both' } : { gap: 'shift', fold: 'first' }
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

class BruteCron {
  readonly times: number[] = []
  readonly #dayOfMonth: string
  readonly #month: string
  readonly #dayOfWeek: string

  constructor(expression: string) {
    const fields = expression.toLowerCase().split(' ')
    if (fields.length === 5) fields.unshift('0')
    const [second, minute, hour, dayOfMonth, month, dayOfWeek] = fields as [
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    this.#dayOfMonth = dayOfMonth
    this.#month = month
    this.#dayOfWeek = dayOfWeek
    const hours = valuesIn(hour, 24)
    const minutes = valuesIn(minute, 60)
    const seconds = valuesIn(second, 60)
    for (const h of hours) {
      for (const m of minutes) for (const s of seconds) this.times.push(((h * 60 + m) * 60 + s) * 1000)
    }
  }

  matchesDay(day: number): boolean {
    const date = new Date(day)
    if (!inList(this.#month, date.getUTCMonth() + 1, 1, 12, MONTHS)) return false
    const byMonth = this.#dayOfMonth.split(',').some((item) => matchesDayOfMonth(item, date))
    const byWeek = this.#dayOfWeek.split(',').some((item) => matchesDayOfWeek(item, date))
    const free = (field: string) => field.startsWith('*') || field === '?'
    return free(this.#dayOfMonth) || free(this.#dayOfWeek) ? byMonth && byWeek : byMonth || byWeek
  }
}

function matchesDayOfMonth(item: string, date: Date): boolean {
  const day = date.getUTCDate()
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  if (item === 'l') return day === lastDay
  if (item.endsWith('w')) {
    const wanted = item === 'lw' ? 31 : Number(item.slice(0, -1))
    return day === nearestWorkingDay(date, Math.min(wanted, lastDay), lastDay)
  }
  return inList(item, day, 1, 31, [])
}

/** Tries the day itself, then its neighbours by distance, for the first working day inside the month. */
function nearestWorkingDay(date: Date, wanted: number, lastDay: number): number {
  for (const distance of [0, -1, 1, -2, 2]) {
    const day = wanted + distance
    const weekday = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day)).getUTCDay()
    if (day >= 1 && day <= lastDay && weekday !== 0 && weekday !== 6) return day
  }
  throw new Error('unreachable')
}

function matchesDayOfWeek(item: string, date: Date): boolean {
  const weekday = date.getUTCDay()
  const named = (text: string) => (WEEKDAYS.includes(text) ? WEEKDAYS.indexOf(text) : Number(text)) % 7
  if (item.includes('#')) {
    const [name, nth] = item.split('#') as [string, string]
    return weekday === named(name) && Math.ceil(date.getUTCDate() / 7) === Number(nth)
  }
  if (item.endsWith('l')) {
    const week = new Date(date.getTime() + 7 * DAY)
    return weekday === named(item.slice(0, -1)) && week.getUTCMonth() !== date.getUTCMonth()
  }
  if (item.startsWith('*') || item === '?') return inList(item, weekday, 0, 6, WEEKDAYS)
  return inList(item, weekday, 0, 7, WEEKDAYS) || (weekday === 0 && inList(item, 7, 0, 7, WEEKDAYS))
}

function inList(list: string, value: number, low: number, high: number, names: string[]): boolean {
  return list.split(',').some((item) => {
    const [range, step] = item.split('/') as [string, string | undefined]
    let [from, to] = [low, high]
    if (range !== '*' && range !== '?') {
      const [first, second] = range.split('-') as [string, string | undefined]
      from = number(first, low, names)
      to = second === undefined ? (step === undefined ? from : high) : number(second, low, names)
      if (names === WEEKDAYS && second === undefined && step !== undefined) to = Math.max(6, from)
      if (second === 'sun' && from > 0) to = 7
    }
    return value >= from && value <= to && (value - from) % Number(step ?? 1) === 0
  })
}

function valuesIn(list: string, size: number): number[] {
  return Array.from({ length: size }, (_, value) => value).filter((value) =>
    inList(list, value, 0, size - 1, []),
  )
}

function number(text: string, low: number, names: string[]): number {
  return names.includes(text) ? names.indexOf(text) + low : Number(text)
}
