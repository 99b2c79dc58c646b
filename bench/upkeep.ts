/**
 * What a scheduler's upkeep costs beside its ticks, in a table of many schedules and as many finished runs: a pass where
 * all is well, and zone data that are newer than what computed the cursors.
 *
 *     npm run bench:upkeep             a table of 1,000,000; about five minutes
 *     npm run bench:upkeep -- --quick  small enough for the tests
 *
 * PostgreSQL from npm, fsync and synchronous_commit on. Each figure is a median with the lowest and highest beside it.
 */
import { pathToFileURL } from 'node:url'
import { hostChance } from '../src/chance.js'
import { assemble } from '../src/escapement.js'
import { createEventBus } from '../src/events/bus.js'
import { silentLogger } from '../src/logger.js'
import { BEFORE_ALL_IDS, reconcileOverdue, reconcileSlice } from '../src/scheduler/reconcile.js'
import { applyZoneData } from '../src/scheduler/zone-data-change.js'
import { fillStrandedLanes } from '../src/store/queries/lanes.js'
import { createManualClock } from '../src/testing/manual-clock.js'
import { startPostgres } from '../test/support/postgres-server.js'
import { spread } from './figures.js'

export interface UpkeepSize {
  schedules: number
  rounds: number
}

const FULL: UpkeepSize = { schedules: 1_000_000, rounds: 100 }
export const QUICK: UpkeepSize = { schedules: 2_000, rounds: 3 }

const [OLDER, NEWER] = ['2020a', '2099a']

export async function benchUpkeep(size: UpkeepSize, print: (line: string) => void): Promise<void> {
  const server = await startPostgres({ fsync: true, settings: ['shared_buffers=1GB', 'max_wal_size=8GB'] })
  const clock = createManualClock(Date.parse('2026-03-01T00:00:00Z'))
  const { escapement, store, jobs } = await assemble({ database: server.url, clock })
  const query = (text: string) => escapement.database.query(text)
  const parts = { store, jobs, bus: createEventBus(silentLogger), zoneData: NEWER, chance: hostChance }
  try {
    await fill(query, size.schedules)
    await query('vacuum analyze')
    print(
      `${size.schedules.toLocaleString('en')} schedules, as many finished runs, a tenth of the schedules zoned`,
    )

    const changes = applyZoneData(parts, silentLogger)
    const chunks = size.schedules / 10 / 1_000
    print(
      `newer zone data, a chunk of 1,000: ${await each(Math.ceil(chunks), () => nothingMoved(changes))} ms`,
    )
    const none = () => nothingMoved(applyZoneData(parts, silentLogger))
    print(`newer zone data, none: ${await each(size.rounds, none)} ms`)
    print(`stranded runs, none: ${await each(size.rounds, () => fillStrandedLanes(store))} ms`)
    print(`overdue, none: ${await each(size.rounds, () => reconcileOverdue(store, NEWER))} ms`)
    let after = BEFORE_ALL_IDS
    const slice = await each(size.rounds, async () => {
      const { mended, next } = await reconcileSlice(store, NEWER, { after, limit: 1_000 })
      if (mended.length > 0) throw new Error(`${mended.length} cursors were mended that were right`)
      after = next ?? BEFORE_ALL_IDS
    })
    print(`a chunk of 1,000 cursors, all right: ${slice} ms; a pass has ten`)
    for (const line of await explainSlice(query, after)) print(line)
  } finally {
    await escapement.close()
    await server.remove()
  }
}

async function nothingMoved(changes: ReturnType<typeof applyZoneData>): Promise<void> {
  const { value } = await changes.next()
  if (value && value.length > 0) throw new Error(`${value.length} cursors moved that were right`)
}

/** A grid of 1,000 to 1,049 hours in UTC, every tenth in a zone; the cursors are right. */
async function fill(query: (text: string) => Promise<unknown>, count: number): Promise<void> {
  const policies = `'{"catchUp":"latest","catchUpWindow":null,"catchUpLimit":100,"grace":"1 minute","overlap":"skip","delay":"0 seconds","jitter":"0 seconds","deleteWhenDone":false}'`
  await query(`
    insert into escapement.schedules (id, name, version, job, input, queue, priority, scopes, timing, policies, start_at,
      state, state_since, ledger_from, created_at, updated_at, zone_data, zone_data_from)
    select gen_random_uuid(), 'customer:' || n, 1, 'noop', jsonb_build_object('customer', n, 'report', repeat('x', 100)),
      'default', 0, '{global}', jsonb_build_object('kind', 'every', 'every', (1000 + n % 50) || ' hours',
        'anchor', '2001-01-01T00:00:00', 'zone', case n % 10 when 0 then 'Africa/Abidjan' else 'UTC' end),
      ${policies}, '2026-01-01Z', 'active', '2026-01-01Z', '2026-02-27Z', '2026-01-01Z', '2026-01-01Z',
      case n % 10 when 0 then '${OLDER}' end, '2026-02-27Z'
    from generate_series(1, ${count}) as n`)
  await query(`
    insert into escapement.cursors (schedule_id, version, kind, next_at, wake_at, decided_through)
    select id, 1, 'every', at, at, '2026-03-01Z'
    from escapement.schedules, cast(timing->>'every' as interval) as step,
      lateral (select '2001-01-01Z'::timestamptz + step * (1 + floor(
        extract(epoch from '2026-03-01Z'::timestamptz - '2001-01-01Z') / extract(epoch from step)))::float8 as at) as grid`)
  await query(`
    with asked as (
      insert into escapement.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue,
        priority, created_at)
      select gen_random_uuid(), id, 'global', '2026-02-28Z', 1, 'scheduled', 'noop', '{}', 'default', 0, '2026-02-28Z'
      from escapement.schedules
      returning id, created_at
    )
    insert into escapement.runs_ended (id, state, eligible_at, attempt, finished_at)
    select id, 'succeeded', created_at, 1, created_at from asked`)
}

async function explainSlice(query: (text: string) => Promise<unknown>, after: string): Promise<string[]> {
  const rows = (await query(`
    explain (analyze, buffers, costs off)
    select s.id, s.name, s.version, s.state, s.timing, s.until_at, s.zone_data, c.version, c.next_at, c.wake_at
    from escapement.schedules as s left join escapement.cursors as c
      on c.schedule_id = s.id and c.schedule_id > '${after}'
    where s.id > '${after}' order by s.id limit 1000`)) as { 'QUERY PLAN': string }[]
  return rows.map((row) => row['QUERY PLAN'])
}

async function each(rounds: number, work: () => Promise<unknown>): Promise<string> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return spread(times, 1)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchUpkeep(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
