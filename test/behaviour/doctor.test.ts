import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Diagnosis } from '../../src/client/diagnosis.js'
import { examine } from '../../src/client/doctor.js'
import { databaseClock } from '../../src/clock.js'
import { after, every } from '../../src/index.js'
import type { Param } from '../../src/store/database.js'
import { createOwnIndexSql } from '../../src/store/mending.js'
import { OWN_INDEXES, type OwnIndex } from '../../src/store/own-indexes.js'
import { listUntakenOfSchedules } from '../../src/store/queries/run-symptoms.js'
import { listBroken, listOverdue } from '../../src/store/queries/schedule-symptoms.js'
import { createStore, type Store } from '../../src/store/store.js'
import { createHarness, type Harness } from '../../src/testing/harness.js'
import { freshSchemaName, sharedDatabase, target } from '../support/database.js'

const schema = freshSchemaName()
let h: Harness
const query = (text: string, params?: readonly Param[]) =>
  h.escapement.database.query(text.replaceAll('{schema}', `"${schema}"`), params)
/** So many seconds from now, by the clock of the harness. */
const at = (seconds: number) => new Date(h.now().getTime() + seconds * 1000)

/** One busy system for all: schedules fire, most runs succeed, some have failed. Each test leaves it as healthy as it was. */
beforeAll(async () => {
  h = await createHarness({ database: await sharedDatabase(), schema, at: '2026-03-01T12:00:30Z' })
  h.job('noop', { handler: () => {} })
  h.job('failing', {
    retry: { attempts: 1 },
    handler: () => {
      throw new Error('no such host')
    },
  })
  for (const name of ['a', 'b']) await h.schedules.put(name, { job: 'noop', timing: every('1 minute') })
  await h.schedules.put('sometimes', { job: 'failing', timing: every('5 minutes') })
  await h.advance('10 minutes')
  await seeWorkers(0)
  return async () => {
    await query('drop schema {schema} cascade')
    await h.close()
  }
})

/** With statements that take so many seconds from now for now. */
const storeAt = (seconds: number) =>
  createStore(h.escapement.database, schema, { ...databaseClock, now: () => at(seconds).getTime() })

const seeWorkers = (seconds: number) => query('update {schema}.workers set seen_at = $1', [at(seconds)])

async function leaseTo(worker: string, seconds: number): Promise<string> {
  const { id } = await h.runs.enqueue('noop', null)
  await query(
    `update {schema}.runs_open set state = 'running', attempt = 1, worker_id = $2, lease_token = gen_random_uuid(),
       lease_expires_at = $3, started_at = $4, max_attempts = 3, fails_when_stale = false where id = $1`,
    [id, worker, at(seconds), at(-120)],
  )
  return id
}

/** As somebody at psql would, but for `concurrently`, which waits for the transactions of all other tests. */
async function type({ command }: Diagnosis): Promise<void> {
  await h.escapement.database.transaction((tx) => tx.script(command!.replaceAll(' concurrently', '')))
}

const WORKER = '00000000-0000-4000-8000-000000000001'

interface Planted {
  plant(): Promise<unknown>
  found: Partial<Record<keyof Diagnosis, unknown>>
  /** Given what was found. */
  mend(finding: Diagnosis): Promise<unknown>
}

const PLANTED: Record<string, Planted> = {
  'a schedule whose timing nobody can compute': {
    async plant() {
      await query(
        `update {schema}.schedules set timing = jsonb_set(timing, '{every}', '"nonsense"') where name = 'a'`,
      )
      await h.advance('1 minute')
      await seeWorkers(0)
    },
    found: {
      kind: 'unplannable',
      subject: 'a',
      detail: expect.stringContaining('nonsense'),
      fix: expect.stringContaining('put the schedule again'),
      command: 'escapement schedules get a',
    },
    async mend() {
      await h.schedules.put('a', { job: 'noop', timing: every('1 minute') })
    },
  },
  'a cursor in the past, and no scheduler': {
    plant: () =>
      query(
        `update {schema}.cursors set wake_at = $1 where schedule_id = (select id from {schema}.schedules where name = 'b')`,
        [at(-120)],
      ),
    found: {
      kind: 'overdue',
      subject: 'b',
      detail: expect.stringMatching(/^due since 2026-03-01T12:\d\d:\d\dZ, and no scheduler/),
      command: 'escapement scheduler',
    },
    mend: () => h.advance('1 second'),
  },
  'a schedule that its breaker took out': {
    async plant() {
      h.job('frail', {
        retry: { attempts: 1 },
        async handler() {
          // While it ran, its next plan time could not be computed.
          await query(`update {schema}.cursors set plan_error = 'no such zone' where kind = 'after'`)
          throw new Error('no such host')
        },
      })
      await h.schedules.put('frail', { job: 'frail', timing: after('1 second'), breaker: { failures: 1 } })
      await h.advance('1 second')
      await seeWorkers(0)
    },
    found: {
      kind: 'broken',
      subject: 'frail',
      detail: expect.stringMatching(/^taken out by its breaker since .*: /),
      command: 'escapement schedules resume frail',
    },
    mend: () => h.schedules.delete('frail'),
  },
  'a lease that ran out and that nobody takes over': {
    plant: () => leaseTo(WORKER, -120),
    found: {
      kind: 'expired_lease',
      detail: expect.stringContaining(`of job noop, whose lease by worker ${WORKER} ended at`),
      command: 'escapement worker',
    },
    mend: () => h.advance('20 seconds'),
  },
  'a killed worker that still holds a run': {
    async plant() {
      await query(
        `insert into {schema}.workers (id, host, pid, version, queues, jobs, concurrency, started_at, seen_at)
         values ($1, 'host-7', 4711, '1', '{default}', '{noop}', 10, $2, $2)`,
        [WORKER, at(-120)],
      )
      await leaseTo(WORKER, 3600)
    },
    found: {
      kind: 'dead_worker',
      subject: WORKER,
      detail: expect.stringMatching(/^process 4711 on host-7 was last seen at .* and still holds 1 run$/),
      command: 'escapement workers',
    },
    async mend() {
      await query('update {schema}.runs_open set lease_expires_at = $1 where worker_id = $2', [at(0), WORKER])
      await h.advance('20 seconds')
      await query('delete from {schema}.workers where id = $1', [WORKER])
    },
  },
  'runs that wait, and no worker that lives': {
    async plant() {
      await h.runs.enqueue('noop', null)
      await query('update {schema}.runs_open set eligible_at = $1', [at(-90)])
      await seeWorkers(-90)
    },
    found: {
      kind: 'no_worker',
      detail: expect.stringMatching(/^1 run waits since 2026-03-01T12:\d\d:\d\dZ, and no worker lives$/),
      command: 'escapement worker',
    },
    async mend() {
      await seeWorkers(0)
      await h.advance('1 second')
    },
  },
  'a run for a job that nobody has': {
    plant: () => query(`select {schema}.enqueue('it''s elsewhere', eligible_at => $1)`, [at(-90)]),
    found: {
      kind: 'unknown_job',
      subject: "it's elsewhere",
      detail: expect.stringContaining('and no worker has it'),
      command: `escapement runs list --job='it'\\''s elsewhere'`,
    },
    mend: () => query('delete from {schema}.runs_open'),
  },
  'a run for a job that nobody has, behind many that are taken in their turn': {
    plant: () =>
      query(
        `select {schema}.enqueue(case n when 200 then '-f' else 'noop' end, eligible_at => $1::timestamptz + n * interval '1 ms')
         from generate_series(1, 200) as n`,
        [at(-90)],
      ),
    found: {
      kind: 'unknown_job',
      subject: '-f',
      detail: expect.stringMatching(/^1 run waits since/),
      command: 'escapement runs list --job=-f',
    },
    mend: () => query('delete from {schema}.runs_open'),
  },
  'a run in a queue that nobody serves': {
    plant: () => query(`select {schema}.enqueue('noop', queue => 'mail', eligible_at => $1)`, [at(-90)]),
    found: {
      kind: 'unserved_queue',
      subject: 'mail',
      detail: expect.stringContaining('for job noop, and no worker that has this job serves the queue'),
      command: 'escapement workers',
    },
    mend: () => query('delete from {schema}.runs_open'),
  },
  'newer time zone data than this process has': {
    plant: () => query(`update {schema}.schedules set zone_data = '2999a' where name = 'b'`),
    found: {
      kind: 'zone_data',
      detail: '1 schedule was computed with newer zone data (up to 2999a) than this process has',
      command: 'node -p process.versions.tz',
    },
    mend: () => query(`update {schema}.schedules set zone_data = null where name = 'b'`),
  },
  'an index that was dropped': {
    plant: () => query('drop index {schema}.runs_for_claiming'),
    found: {
      kind: 'missing_index',
      subject: 'runs_for_claiming',
      detail: `an index of ${schema}.runs_open is not there`,
      command: expect.stringMatching(
        target === 'postgres'
          ? /^create index concurrently "runs_for_claiming" on "test_\w+"."runs_open" USING btree \(queue, .* WHERE .*;$/
          : /^create index "runs_for_claiming" on /,
      ),
    },
    mend: type,
  },
  'a primary key that was dropped': {
    plant: () => query('alter table {schema}.runs_ended drop constraint runs_ended_pkey'),
    found: {
      kind: 'missing_index',
      subject: 'runs_ended_pkey',
      command: expect.stringContaining('add primary key using index "runs_ended_pkey";'),
    },
    mend: type,
  },
  'an index that is not whole': {
    plant: () =>
      query(`update pg_index set indisvalid = false where indexrelid = '{schema}.runs_history'::regclass`),
    found: {
      kind: 'missing_index',
      subject: 'runs_history',
      detail: expect.stringContaining('is not whole'),
      command: expect.stringMatching(/^reindex index( concurrently)? "test_\w+"."runs_history";$/),
    },
    mend: type,
  },
  'rows of another process that a transition could not change': {
    plant: () =>
      query(
        `with field as (
           insert into {schema}.transition_fields (table_schema, table_name, field) values ('public', 'posts', 'publish_at')
           returning id
         )
         insert into {schema}.transition_quarantine (field_id, key, due_at, row_version, action, message, quarantined_at)
         select id, key, now(), 1, 'set', 'violates a check', now() from field, unnest(array['7', '8']) as key`,
      ),
    found: {
      kind: 'quarantined',
      subject: 'public.posts by publish_at',
      detail: '2 rows could not be changed, first 7: violates a check',
      command: 'escapement sweep --quarantined',
    },
    mend: () => query('delete from {schema}.transition_quarantine'),
  },
  'a host whose clock is wrong': {
    async plant() {
      const { now } = Date
      vi.spyOn(Date, 'now').mockImplementation(() => now.call(Date) - 300_000)
    },
    found: {
      kind: 'clock_skew',
      detail: expect.stringMatching(/^is (29[89]|30[01])\.\d s behind the database's; no decision/),
      command: 'sudo timedatectl set-ntp true',
    },
    async mend() {
      vi.restoreAllMocks()
    },
  },
  'a schema that lacks a migration': {
    plant: () =>
      query('delete from {schema}.migrations where number = (select max(number) from {schema}.migrations)'),
    found: {
      kind: 'schema',
      subject: schema,
      detail: expect.stringMatching(/^lacks 1 of the \d+ migrations/),
      command: 'escapement migrate',
    },
    mend: () =>
      query(`insert into {schema}.migrations select max(number) + 1, 'newest' from {schema}.migrations`),
  },
  'a schema of a newer program': {
    plant: () =>
      query(`insert into {schema}.migrations select max(number) + 1, 'later' from {schema}.migrations`),
    found: { kind: 'schema', command: 'npm install escapement@latest' },
    mend: () => query(`delete from {schema}.migrations where name = 'later'`),
  },
  'a table that is gone': {
    plant: () => query('alter table {schema}.control rename to elsewhere'),
    found: {
      kind: 'unexamined',
      subject: 'claiming',
      detail: expect.stringMatching(/^could not be looked at: relation .* does not exist$/),
    },
    mend: () => query('alter table {schema}.elsewhere rename to control'),
  },
  'a job of which many runs have failed, as a note': {
    plant: () =>
      query(
        `with asked as (
           insert into {schema}.runs_asked (id, created_at, priority, trigger, job, queue, input)
           select gen_random_uuid(), $1, 0, 'direct', 'mail', 'default', '{}' from generate_series(1, 12) returning id
         )
         insert into {schema}.runs_ended (id, eligible_at, finished_at, attempt, state)
         select id, $1, $1, 1, 'failed' from asked`,
        [at(-60)],
      ),
    found: {
      kind: 'failing_job',
      severity: 'note',
      subject: 'mail',
      detail: expect.stringMatching(/^12 runs have failed for good within a day/),
      command: 'escapement runs list --state failed --job=mail',
    },
    mend: () => query(`delete from {schema}.runs_asked where job = 'mail'`),
  },
  'a pause of claiming, as a note': {
    plant: () => h.escapement.claiming.pause({ reason: 'maintenance', actor: 'ada' }),
    found: {
      kind: 'claiming_paused',
      severity: 'note',
      detail: expect.stringMatching(/^no run is begun since .*, paused by ada: maintenance$/),
      command: 'escapement claiming resume',
    },
    mend: () => h.escapement.claiming.resume(),
  },
}

describe('doctor', () => {
  it('finds nothing in a healthy system, and says what it was found with', async () => {
    expect(await h.runs.list({ schedule: 'sometimes' })).toMatchObject([
      { state: 'failed' },
      { state: 'failed' },
    ])
    expect(await h.escapement.examine()).toEqual({
      findings: [],
      version: expect.any(String),
      database: { kind: target, mode: 'direct', version: expect.stringMatching(/^1\d/) },
      schema: { name: schema, level: expect.any(Number), known: expect.any(Number) },
      zoneData: expect.any(String),
      schedulesZoneData: null,
      clockSkewMs: expect.any(Number),
      notificationMs: expect.any(Number),
    })
  })

  it.each(Object.keys(PLANTED))('finds %s, alone, and nothing once it is mended', async (what) => {
    const { plant, found, mend } = PLANTED[what]!
    await plant()
    const findings = await h.escapement.doctor()
    // First, so that what one leaves behind is not found by the others.
    await mend(findings[0]!)
    expect(findings).toEqual([
      {
        severity: 'problem',
        kind: expect.any(String),
        subject: expect.any(String),
        detail: expect.any(String),
        fix: expect.any(String),
        command: null,
        ...found,
      },
    ])
    expect(await h.escapement.doctor()).toEqual([])
  })

  it('tells twenty of a kind, and how many more there are', async () => {
    await query(`select {schema}.enqueue('job ' || n, eligible_at => $1) from generate_series(1, 25) as n`, [
      at(-90),
    ])
    const findings = await h.escapement.doctor()
    expect(findings).toHaveLength(21)
    expect(findings.at(-1)).toMatchObject({ kind: 'unknown_job', subject: '5 more', command: null })
    await query('delete from {schema}.runs_open')
  })

  it('finds by its schedules a job that nobody has, however many runs are before theirs', async () => {
    await h.schedules.put('far', { job: 'noop', timing: every('1 minute'), queue: 'far' })
    await h.advance('1 minute')
    await query(`update {schema}.schedules set job = 'elsewhere' where name = 'far'`)
    await seeWorkers(90)
    const look = { lateMs: 60_000, aliveMs: 60_000 }
    const found = [await listUntakenOfSchedules(storeAt(90), look)]
    await query('delete from {schema}.runs_open')
    found.push(await listUntakenOfSchedules(storeAt(90), look))
    await h.schedules.delete('far')
    await seeWorkers(0)
    expect(found).toMatchObject([
      [{ job: 'elsewhere', queue: 'far', runs: 1, has_more: true, is_known: false, workers: 1 }],
      [],
    ])
  })

  it('gives a look up that takes too long, and tells what else there is', async () => {
    const real = storeAt(0)
    const asked: string[] = []
    const store: Store = {
      ...real,
      transaction: (work) =>
        real.transaction((session, tx) =>
          work(
            {
              ...session,
              async query(text, params) {
                asked.push(text)
                if (text.includes('transition_quarantine')) throw new Error('Query read timeout')
                return session.query(text, params)
              },
            },
            tx,
          ),
        ),
    }
    await h.escapement.claiming.pause()
    const { findings } = await examine({ store, zoneData: '2999z', tables: () => [] })
    await h.escapement.claiming.resume()
    expect(findings).toMatchObject([
      { kind: 'unexamined', subject: 'rows that were set aside', fix: expect.stringContaining('look again') },
      { kind: 'claiming_paused' },
    ])
    expect(asked.at(-2)).toBe('set local statement_timeout = 3000')
  })

  it('counts none among the overdue that cannot be planned', async () => {
    await query(`update {schema}.cursors set wake_at = $1, plan_error = 'no such zone'`, [at(-180)])
    await query(
      `update {schema}.cursors set wake_at = $1, plan_error = null
       where schedule_id = (select id from {schema}.schedules where name = 'b')`,
      [at(-120)],
    )
    const overdue = await listOverdue(storeAt(0), { limit: 1, most: 1, lateMs: 60_000 })
    await query('update {schema}.cursors set wake_at = next_at, plan_error = null')
    expect(overdue).toMatchObject([{ name: 'b', count: 1 }])
  })

  it('counts none among the broken that are tried again by themselves', async () => {
    await query(
      `update {schema}.schedules set state = 'broken', state_until = case when name <> 'sometimes' then $1::timestamptz end`,
      [at(3600)],
    )
    const broken = await listBroken(storeAt(0), { limit: 1, most: 1 })
    await query(`update {schema}.schedules set state = 'active', state_until = null`)
    expect(broken).toMatchObject([{ name: 'sometimes', count: 1 }])
  })

  it('knows every index that the migrations make, and how to make the same again', async () => {
    expect(OWN_INDEXES).toEqual(await readIndexes())
    await h.escapement.database.transaction(async (tx) => {
      for (const index of OWN_INDEXES) {
        const isConstraint = /^(PRIMARY KEY|UNIQUE) USING/.test(index.definition)
        await tx.script(
          isConstraint
            ? `alter table "${schema}".${index.table} drop constraint ${index.name} cascade`
            : `drop index "${schema}".${index.name}`,
        )
        await tx.script(createOwnIndexSql(schema, index, { concurrently: false }))
      }
    })
    expect(await readIndexes()).toEqual(OWN_INDEXES)
  })
})

/** In the words of the list. */
async function readIndexes(): Promise<OwnIndex[]> {
  const rows = await query(
    `select c.relname::text as table, i.relname::text as name, x.indisunique as is_unique, k.contype::text as constraint,
       regexp_replace(substring(pg_get_indexdef(x.indexrelid) from 'USING .*'), '\\s+', ' ', 'g') as over
     from pg_index as x join pg_class as i on i.oid = x.indexrelid join pg_class as c on c.oid = x.indrelid
     join pg_namespace as n on n.oid = c.relnamespace
     left join pg_constraint as k on k.conindid = i.oid and k.contype in ('p', 'u')
     where n.nspname = $1 order by c.relname collate "C", i.relname collate "C"`,
    [schema],
  )
  const words = { p: 'PRIMARY KEY', u: 'UNIQUE' }
  return rows.map(({ table, name, is_unique, constraint, over }) => {
    const what = words[constraint as 'p' | 'u'] ?? (is_unique ? 'UNIQUE INDEX' : 'INDEX')
    return { table, name, definition: `${what} ${over}` } as OwnIndex
  })
}
