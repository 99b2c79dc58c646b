import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { compileTiming, cron } from '../../src/time/timing.js'
import { instantOf, mapPattern, wallAt } from '../../src/time/wall-mapping.js'
import { zoneNamed } from '../../src/time/zone.js'
import { changesOf } from './oracle.js'
import { ZONES } from './zones.js'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
  }
}

const HOUR = 3_600_000
const client = new pg.Client({ connectionString: inject('postgresUrl') })

beforeAll(() => client.connect())
afterAll(() => client.end())

/** Wall times that PostgreSQL shows at the instants, as milliseconds. */
async function wallsByPostgres(zone: string, instants: readonly number[]): Promise<number[]> {
  const { rows } = await client.query<{ wall: string }>(
    `select extract(epoch from to_timestamp(at / 1000.0) at time zone $1) * 1000 as wall
     from unnest($2::float8[]) with ordinality as given (at, position) order by position`,
    [zone, instants],
  )
  return rows.map(({ wall }) => Number(wall))
}

/** Instants that PostgreSQL reads wall times as: the offset before a gap, the later one of a fold. */
async function instantsByPostgres(zone: string, walls: readonly number[]): Promise<number[]> {
  const { rows } = await client.query<{ at: string }>(
    `select extract(epoch from (to_timestamp(wall / 1000.0) at time zone 'UTC') at time zone $1) * 1000 as at
     from unnest($2::float8[]) with ordinality as given (wall, position) order by position`,
    [zone, walls],
  )
  return rows.map(({ at }) => Number(at))
}

const agreed = new Map<string, number[]>()

/** The changes from 1973 to 2037 around which both sets of zone data agree, two days to either side. */
async function agreedChanges(zone: string): Promise<number[]> {
  const before = agreed.get(zone)
  if (before !== undefined) return before
  const changes = changesOf(zone).filter((at) => at > Date.UTC(1973, 0, 1) && at < Date.UTC(2037, 0, 1))
  const samples = changes.flatMap((at) => [at - 48 * HOUR, at - 1000, at, at + 48 * HOUR])
  const theirs = await wallsByPostgres(zone, samples)
  const known = zoneNamed(zone)
  const found = changes.filter((_, index) =>
    [0, 1, 2, 3].every((part) => wallAt(known, samples[index * 4 + part]!) === theirs[index * 4 + part]),
  )
  agreed.set(zone, found)
  return found
}

test('wall times around every change of offset are read as PostgreSQL reads them', {
  timeout: 120_000,
}, async () => {
  let compared = 0
  let zonesWithChanges = 0
  for (const zone of ZONES) {
    const known = zoneNamed(zone)
    const changes = await agreedChanges(zone)
    const walls = changes.flatMap((at) =>
      Array.from({ length: 25 }, (_, index) => wallAt(known, at - 6 * HOUR) + index * 0.5 * HOUR),
    )
    const expected = await instantsByPostgres(zone, walls)
    const found = walls.map((wall) => laterInstant(zone, wall))
    const wrong = walls.findIndex((_, index) => found[index] !== expected[index])
    if (wrong >= 0) {
      expect.fail(
        `${zone}: wall ${new Date(walls[wrong]!).toISOString()} is ${found[wrong]} here, ${expected[wrong]} there`,
      )
    }
    compared += walls.length
    if (walls.length > 0) zonesWithChanges += 1
  }
  expect(zonesWithChanges).toBeGreaterThanOrEqual(40)
  expect(compared).toBeGreaterThan(20_000)
})

/** As PostgreSQL chooses: `shift` and `second`. */
function laterInstant(zone: string, wall: number): number {
  const single = {
    atOrAfter: (from: number) => (from <= wall ? wall : Number.POSITIVE_INFINITY),
    atOrBefore: (until: number) => (until >= wall ? wall : Number.NEGATIVE_INFINITY),
  }
  const mapped = mapPattern(single, zoneNamed(zone), { gap: 'shift', fold: 'second' })
  return mapped.next(instantOf(zoneNamed(zone), wall) - 1)!
}

test('a daily cron falls where PostgreSQL puts that time on each day', { timeout: 120_000 }, async () => {
  let compared = 0
  for (const zone of ZONES) {
    const changes = (await agreedChanges(zone)).slice(-20)
    for (const time of ['00:30', '02:30']) {
      const [hour, minute] = time.split(':').map(Number) as [number, number]
      const compiled = compileTiming(cron(`${minute} ${hour} * * *`, { zone, gap: 'shift', fold: 'second' }))
      const walls: number[] = []
      const found: number[] = []
      for (const change of changes) {
        const from = wallAt(zoneNamed(zone), change - 24 * HOUR)
        const days = [0, 1, 2].map(
          (day) => (Math.floor(from / (24 * HOUR)) + day) * 24 * HOUR + hour * HOUR + minute * 60_000,
        )
        walls.push(...days)
        // The occurrence of a wall time is within a day and a half of the same time in UTC, whatever the zone.
        for (const wall of days) {
          const near = compiled.between(wall - 40 * HOUR, wall + 40 * HOUR, 10)
          found.push(near.find((at) => at === laterInstant(zone, wall)) ?? Number.NaN)
        }
      }
      expect(found, `${zone} ${time}`).toEqual(await instantsByPostgres(zone, walls))
      compared += walls.length
    }
  }
  expect(compared).toBeGreaterThan(2_000)
})
