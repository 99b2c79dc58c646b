import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createEscapement } from '../../src/index.js'
import { ENGINE_MAJOR } from '../../src/store/data-directory.js'
import { type EmbeddedDatabase, openPGlite, PGLITE_MAINTENANCE } from '../../src/store/pglite.js'
import { PGliteEngine } from '../../src/store/pglite-engine.js'

const scratch = mkdtempSync(join(tmpdir(), 'escapement-test-'))
let template: Blob
let database: EmbeddedDatabase

beforeAll(async () => {
  // Without a template, as from the sources: the engine makes its own files.
  database = await openPGlite({ directory: join(scratch, 'created') })
  template = await database.dump()
}, 60_000)

afterAll(async () => {
  await database.close()
  rmSync(scratch, { recursive: true, force: true })
})

async function failure(work: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  return await work.then(
    () => expect.fail('expected a rejection'),
    (error) => error,
  )
}

describe('embedded database', () => {
  it('lets the main thread go on while a query computes', async () => {
    let longestStall = 0
    let last = performance.now()
    const ticking = setInterval(() => {
      longestStall = Math.max(longestStall, performance.now() - last)
      last = performance.now()
    }, 1)
    const began = performance.now()
    await database.query('select count(*) from generate_series(1, 5000000) as n where n % 7 = 3')
    const took = performance.now() - began
    clearInterval(ticking)
    expect(took).toBeGreaterThan(200)
    expect(longestStall).toBeLessThan(took / 2)
  })

  it('refuses at once what would wait for its own transaction', async () => {
    await database.transaction(async (tx) => {
      for (const stuck of [
        database.query('select 1'),
        database.transaction(async () => {}),
        database.listen('channel', () => {}),
        database.dump(),
        database.close(),
      ]) {
        const error = await failure(stuck)
        expect(error.code).toBe('database_busy')
        expect(error.message).toContain('Use the `tx` that was handed to the callback.')
      }
      await tx.query('select 1')
    })
  })

  it('refuses at once to enqueue inside of a transaction that is not given, also while others write', async () => {
    const escapement = await createEscapement({ database })
    escapement.job('noop', { handler: () => {} })
    const { runs } = escapement
    const others = Array.from({ length: 20 }, (_, input) => runs.enqueue('noop', input))
    const inside = database.transaction(() => runs.enqueue('noop', 1))
    expect(await failure(inside)).toMatchObject({ code: 'database_busy' })
    expect(await Promise.all(others)).toHaveLength(20)
    const many = database.transaction(() => runs.enqueueMany('noop', [{ input: 1 }]))
    expect(await failure(many)).toMatchObject({ code: 'database_busy' })
    expect(await database.transaction((tx) => runs.enqueue('noop', 1, { tx }))).toMatchObject({
      created: true,
    })
  })

  it('serves what a transaction set off once that transaction has ended', async () => {
    let goOn = () => {}
    const ended = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { later } = await database.transaction(async () => ({
      later: ended.then(() => database.query('select 1 as n')),
    }))
    goOn()
    expect(await later).toEqual([{ n: 1 }])
  })

  it('refuses a statement that leaves a transaction open, and undoes it', async () => {
    expect(await failure(database.query('begin'))).toMatchObject({ code: 'database_busy' })
    await database.query('create table outside as select 1 as n')
    await database.query('vacuum outside')
    await database.query('drop table outside')
  })

  it('embeds the major version that it checks folders for', async () => {
    const [row] = await database.query<{ version: string }>(
      `select current_setting('server_version_num') as version`,
    )
    expect(row!.version.slice(0, 2)).toBe(ENGINE_MAJOR)
  })

  it('rejects what is pending and what comes later when its thread dies', async () => {
    const engine = await PGliteEngine.start({
      data: null,
      template: await template.arrayBuffer(),
      maintenance: PGLITE_MAINTENANCE,
    })
    const pending = engine.request({
      op: 'script',
      text: 'select count(*) from generate_series(1, 100000000)',
    })
    await engine.terminate()
    for (const reply of [await pending, await engine.request({ op: 'begin' })]) {
      expect(reply).toMatchObject({
        error: {
          escapement: { code: 'database_unusable' },
          message: expect.stringMatching(
            /^The embedded database stopped: .* Open it again; what was committed is kept\.$/,
          ),
        },
      })
    }
  })
})

describe('maintenance', () => {
  it('bounds the log and the size of a hot table under a load of writes', async () => {
    const directory = join(scratch, 'busy')
    const busy = await openPGlite({
      directory,
      template,
      maintenance: { lookAtLogMs: 20, checkpointAfterBytes: 2 << 20, lookAtTablesMs: 20 },
    })
    await busy.query(
      `create table hot as select n as id, repeat('x', 200) as body from generate_series(1, 2000) as n`,
    )
    const position = async () => {
      const text = `select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`
      return (await busy.query<{ bytes: number }>(text))[0]!.bytes
    }
    const before = await position()
    for (let round = 0; round < 60; round += 1) {
      // Half of it inside transactions that follow each other without a pause.
      if (round % 2) await busy.query('update hot set id = id + 1')
      else await busy.transaction((tx) => tx.query('update hot set id = id + 1'))
      await sleep(1)
    }
    const written = (await position()) - before
    const [{ size } = { size: 0 }] = await busy.query<{ size: number }>(
      `select pg_relation_size('hot') as size`,
    )
    await busy.close()
    const log = join(directory, 'data', 'pg_wal')
    const kept = readdirSync(log).reduce((sum, name) => sum + statSync(join(log, name)).size, 0)
    expect(written).toBeGreaterThan(30 << 20)
    expect(kept).toBeLessThan(15 << 20)
    // One version of all rows takes 0.5 MB, and 60 were written.
    expect(size).toBeLessThan(8 << 20)
  }, 60_000)

  it('counts the rows of a table, but not where autovacuum is turned off for it', async () => {
    const looking = await openPGlite({
      template,
      maintenance: { ...PGLITE_MAINTENANCE, lookAtTablesMs: 20 },
    })
    await looking.query('create table counted as select generate_series(1, 100) as n')
    await looking.query('create table left_alone (n int) with (autovacuum_enabled = off)')
    await looking.query('insert into left_alone select generate_series(1, 100)')
    const counts = async () => {
      const names = `('counted', 'left_alone')`
      const text = `select reltuples from pg_class where relname in ${names} order by relname`
      return (await looking.query<{ reltuples: number }>(text)).map(({ reltuples }) => reltuples)
    }
    await vi.waitFor(async () => expect((await counts())[0]).toBe(100), { timeout: 20_000 })
    expect(await counts()).toEqual([100, -1])
    await looking.close()
  }, 30_000)
})

describe('a directory', () => {
  async function refusal(name: string): Promise<string> {
    const error = await failure(openPGlite({ directory: join(scratch, name) }))
    expect(error.code).toBe('directory_unusable')
    expect(error.message).not.toContain('\n')
    return error.message.replace(scratch, '')
  }

  beforeAll(async () => {
    const created = await openPGlite({ directory: join(scratch, 'kept'), template })
    await created.query(`create table kept as select 42 as answer`)
    await created.close()
  })

  function copyOfKept(name: string): string {
    cpSync(join(scratch, 'kept'), join(scratch, name), { recursive: true })
    return join(scratch, name, 'data')
  }

  it('keeps what was written, and ignores the template once there is a database', async () => {
    const again = await openPGlite({ directory: join(scratch, 'kept'), template })
    expect(await again.query('select answer from kept')).toEqual([{ answer: 42 }])
    await again.close()
  })

  it('that is a file is refused in one line', async () => {
    writeFileSync(join(scratch, 'file'), '')
    expect(await refusal('file')).toBe(
      '/file is not a directory: there is a file in its place. Choose another directory.',
    )
    expect(await refusal('file/below')).toBe(
      '/file/below is not a directory: there is a file in its place. Choose another directory.',
    )
  })

  it('of another major version is refused in one line that names both', async () => {
    const data = join(scratch, 'older', 'data')
    mkdirSync(data, { recursive: true })
    writeFileSync(join(data, 'PG_VERSION'), '17\n')
    expect(await refusal('older')).toBe(
      '/older was written by PostgreSQL 17, and this program embeds PostgreSQL 18. ' +
        'Export it with the version of Escapement that wrote it, or choose another directory.',
    )
  })

  it.each([
    ['without its version', (data: string) => rmSync(join(data, 'PG_VERSION'))],
    ['without its control file', (data: string) => rmSync(join(data, 'global', 'pg_control'))],
    ['with an empty control file', (data: string) => truncateSync(join(data, 'global', 'pg_control'))],
    ['without its log', (data: string) => rmSync(join(data, 'pg_wal'), { recursive: true })],
    ['without its catalogue', (data: string) => rmSync(join(data, 'base'), { recursive: true })],
  ])('%s is refused in one line', async (problem, damage) => {
    damage(copyOfKept(problem))
    const message = await refusal(problem)
    expect(message).toMatch(/does not hold a database that can be opened: .* or choose another directory\.$/)
    expect(message).not.toMatch(/Aborted|PGlite/)
    // The refusal lets go of the lock.
    await refusal(problem)
  })
})

describe('a transactional handler on the one session', () => {
  it('lets others go before the next one, and what it said of its progress is written when it is over', async () => {
    await using escapement = await createEscapement({ database, schema: 'handlers' })
    const order: string[] = []
    escapement.job('work', {
      transactional: true,
      handler: async ({ input, progress }) => {
        order.push(`begin ${input}`)
        progress(0.5)
        // Longer than progress is gathered for.
        if (input === 1) await sleep(1_100)
        order.push(`end ${input}`)
      },
    })
    const heard: string[] = []
    const isHeard = new Promise<void>((resolve) => {
      escapement.on('run.progress', ({ runId }) => {
        heard.push(runId)
        resolve()
      })
    })
    const [first] = await escapement.runs.enqueueMany('work', [{ input: 1 }, { input: 2 }])
    await escapement.start({ roles: ['worker'] })
    await expect.poll(() => order).toEqual(['begin 1'])
    await escapement.database.query('select 1').then(() => order.push('other'))
    await isHeard
    expect(heard).toContain(first!.id)
    await expect.poll(() => order).toEqual(['begin 1', 'end 1', 'other', 'begin 2', 'end 2'])
  })
})

it('the one session tells who uses it, and how many wait', async () => {
  expect(database.use()).toEqual({ total: 1, idle: 1, waiting: 0 })
  const refused = expect(database.query('select 1 / 0')).rejects.toThrow()
  const answered = database.query('select 1')
  expect(database.use()).toEqual({ total: 1, idle: 0, waiting: 1 })
  await refused
  await answered
  expect(database.use()).toEqual({ total: 1, idle: 1, waiting: 0 })
})
