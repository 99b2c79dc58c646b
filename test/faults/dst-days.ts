/**
 * The two days of the year on which the clock on the wall is moved, by a clock that a process moves through them, killed on the way and
 * begun again. What must run is a table made by hand: nothing here computes it.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SHORT_LIVED } from '../support/short-lived.js'
import type { Report } from './checks/finding.js'
import { createRandom } from './random.js'
import type { World } from './world.js'

const zone = 'America/New_York'
const SCHEDULES = {
  'half-past-one': { expression: '30 1 * * *', zone },
  'half-past-one-second': { expression: '30 1 * * *', zone, fold: 'second' },
  'half-past-one-both': { expression: '30 1 * * *', zone, fold: 'both' },
  'half-past-two': { expression: '30 2 * * *', zone },
  'half-past-two-skip': { expression: '30 2 * * *', zone, gap: 'skip' },
  'half-past-each-hour': { expression: '30 * * * *', zone },
}

interface Day {
  schema: string
  /** Midnight there, and five hours by any clock. */
  from: string
  planTimes: Record<keyof typeof SCHEDULES, string[]>
}

const HOURS = 5

const DAYS: readonly Day[] = [
  {
    // At 2:00 it becomes 3:00: half past two is on no wall.
    schema: 'dst_gap',
    from: '2026-03-08T05:00:00.000Z',
    planTimes: {
      'half-past-one': ['06:30'],
      'half-past-one-second': ['06:30'],
      'half-past-one-both': ['06:30'],
      'half-past-two': ['07:30'],
      'half-past-two-skip': [],
      'half-past-each-hour': ['05:30', '06:30', '07:30', '08:30', '09:30'],
    },
  },
  {
    // At 2:00 it becomes 1:00: half past one is there twice.
    schema: 'dst_fold',
    from: '2026-11-01T04:00:00.000Z',
    planTimes: {
      'half-past-one': ['05:30'],
      'half-past-one-second': ['06:30'],
      'half-past-one-both': ['05:30', '06:30'],
      'half-past-two': ['07:30'],
      'half-past-two-skip': ['07:30'],
      'half-past-each-hour': ['04:30', '05:30', '06:30', '07:30', '08:30'],
    },
  },
]

const program = fileURLToPath(new URL('dst-process.mjs', import.meta.url))
/** Once everything is whole: before that it may never find the database there for long enough. */
const MOST_TRIES = 10
const MOST_LIFE_MS = 600

export interface DstSettings {
  dist: string
  seed: number
  /** Whether the last fault is over. */
  isHealed(): boolean
}

/** Through whatever is broken meanwhile. */
export async function passDstDays(
  world: World,
  { dist, seed, isHealed }: DstSettings,
  report: Report,
): Promise<void> {
  const random = createRandom(seed, 'dst days')
  const log = fs.openSync(path.join(world.folder, 'dst-days.log'), 'a')
  const passDay = async ({ schema, from: at }: Day, killAfterMs: number) => {
    const facts = { dist, database: world.server.url, schema, at, hours: HOURS, schedules: SCHEDULES }
    await pass(facts, killAfterMs, log)
    for (let tries = 0; !(await pass(facts, null, log)); await sleep(500)) {
      if (isHealed()) tries += 1
      if (tries === MOST_TRIES) return report('stuck', schema, 'did not come to its end')
    }
  }
  await Promise.all(DAYS.map((day) => passDay(day, random.between(0, MOST_LIFE_MS))))
}

/** Returns how many occurrences the days have. */
export async function checkDstDays(world: World, report: Report): Promise<number> {
  let count = 0
  for (const day of DAYS) count += await checkDay(world, day, report)
  return count
}

/** Whether it came to its end; one that is to be killed is, so many milliseconds after it has begun. */
function pass(facts: object, killAfterMs: number | null, log: number): Promise<boolean> {
  const child = spawn(process.execPath, [...SHORT_LIVED, program, JSON.stringify(facts)], {
    stdio: ['ignore', 'ignore', log, 'ipc'],
  })
  let isDone = false
  child.on('message', (message: { begun?: true; done?: true }) => {
    isDone ||= message.done === true
    if (message.begun && killAfterMs !== null) setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  })
  return new Promise((resolve) => child.once('exit', () => resolve(isDone)))
}

async function checkDay(world: World, { schema, from, planTimes }: Day, report: Report): Promise<number> {
  const [there] = await world.query<{ tables: string | null }>('select to_regclass($1) as tables', [
    `${schema}.runs_asked`,
  ])
  // It did not even begin, which is a finding already.
  if (there!.tables === null) return 0
  const rows = await world.query<{ name: string; plan_time: string }>(
    `select s.name, to_char(r.plan_time at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as plan_time
     from ${schema}.runs_asked as r join ${schema}.schedules as s on s.id = r.schedule_id order by r.plan_time`,
  )
  let count = 0
  for (const [name, times] of Object.entries(planTimes)) {
    const expected = times.map((time) => `${from.slice(0, 10)} ${time}`)
    const found = rows.filter((row) => row.name === name).map((row) => row.plan_time)
    count += expected.length
    for (const time of expected.filter((one) => !found.includes(one)))
      report('lost', `${schema} ${name}`, `did not run at ${time} UTC`)
    for (const time of found.filter((one) => !expected.includes(one)))
      report('unexpected', `${schema} ${name}`, `ran at ${time} UTC`)
    if (new Set(found).size < found.length) report('doubled', `${schema} ${name}`, found.join(', '))
  }
  return count
}
