import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEscapement, every } from '../../src/index.js'
import { CARRIED_TABLES, LEFT_TABLES, NUMBERED_TABLES } from '../../src/store/carried-tables.js'
import { newestMigration } from '../../src/store/migrate.js'
import { contentsOf, fill, isClean, linesOf, openPlace, type Place } from '../support/moving.js'

const WAIT = '10s'
const move = (h: Place, options: object = {}) => h.escapement.export({ mode: 'move', wait: WAIT, ...options })

const manifestOf = (lines: readonly string[]) => JSON.parse(lines[0]!).escapement

/** What a new process would fire at once. */
const fireAt = async (h: Place) => {
  await h.escapement.claiming.resume()
  await h.advance('2 minutes')
}

/** With something of everything; who uses it leaves it as it was. */
let full: Place

beforeAll(async () => {
  full = await openPlace('here', afterAll)
  await fill(full)
})

describe('what is carried', () => {
  it('is every table, but for those that are left on purpose', async () => {
    const { escapement, schema } = full
    const tables = await escapement.database.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = $1 and table_type = 'BASE TABLE'`,
      [schema],
    )
    const found = tables.map(({ name }) => name).sort()
    expect([...CARRIED_TABLES, ...LEFT_TABLES].sort()).toEqual(found)
    const numbered = await escapement.database.query<{ name: string }>(
      `select table_name as name from information_schema.columns where table_schema = $1 and is_identity = 'YES'`,
      [schema],
    )
    expect(numbered.map(({ name }) => name).sort()).toEqual([...NUMBERED_TABLES].sort())
  })

  it('is the same row by row after a move to a server and back, and goes on at each end', async () => {
    const [here, there] = [await openPlace(), await openPlace('there')]
    await fill(here)
    const before = await contentsOf(here)
    expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([])
    const report = await there.escapement.import(move(here, { actor: 'ann' }))
    expect(report).toMatchObject({ mode: 'move', isNew: true, rows: { schedules: 6 } })
    expect(await contentsOf(there)).toEqual(before)
    expect([await isClean(here.escapement), await isClean(there.escapement)]).toEqual([true, true])
    expect(await here.escapement.moved()).toMatchObject({ exportId: report.exportId, movedBy: 'ann' })
    expect(await there.escapement.moved()).toBeNull()

    there.job('work', { handler: () => null })
    there.jump('40 minutes')
    await fireAt(there)
    await there.schedules.patch('cron', { priority: 3 })
    expect(await isClean(there.escapement)).toBe(true)
    const after = await contentsOf(there)
    expect(after.runs_asked!.length).toBeGreaterThan(before.runs_asked!.length)

    const back = await here.escapement.import(move(there))
    expect(back.isNew).toBe(true)
    expect(await contentsOf(here)).toEqual(after)
    expect(await here.escapement.moved()).toBeNull()
    here.jump('60 minutes')
    await fireAt(here)
    expect(await isClean(here.escapement)).toBe(true)
    await expect(there.schedules.pause('cron')).rejects.toMatchObject({ code: 'moved' })
    // The first export again: it was imported there, and what became of it went on.
    await expect(there.escapement.import(here.escapement.export())).rejects.toMatchObject({
      code: 'target_not_empty',
    })
  })

  it('has of a copy what was at work then: it is tried again where it was imported', async () => {
    const [here, there] = [await openPlace(), await openPlace('there')]
    let lines: string[] = []
    here.job('work', {
      async handler() {
        lines = await linesOf(here.escapement.export())
      },
    })
    await here.schedules.put('busy', { job: 'work', timing: every('1 minute') })
    await here.advance('1 minute')
    expect(await here.escapement.moved()).toBeNull()
    const report = await there.escapement.import(lines)
    expect(report).toMatchObject({ mode: 'copy', rows: { runs_open: 1 } })
    const attempts: number[] = []
    there.job('work', { handler: ({ attempt }) => void attempts.push(attempt) })
    there.jump('2 minutes')
    await there.advance('1 second')
    expect(attempts.filter((attempt) => attempt > 1)).toEqual([2])
    expect(await isClean(there.escapement)).toBe(true)
    await here.advance('1 minute')
    expect(await here.planTimes('busy')).toHaveLength(3)
  })
})

describe('where everything was moved away', () => {
  it('every change is refused by the database itself, and reading goes on', async () => {
    const { escapement, schedules, runs, schema } = full
    const { database, tokens, claiming } = escapement
    const token = await tokens.create({ name: 'reader', role: 'viewer' })
    const [failed] = await runs.list({ schedule: 'failing' })
    const [waiting] = (await runs.search({ state: 'pending' })).runs
    const { exportId } = manifestOf(await linesOf(move(full)))
    const verbs: Record<string, () => Promise<unknown>> = {
      put: () => schedules.put('new', { job: 'work', timing: every('1 minute') }),
      patch: () => schedules.patch('every', { priority: 9 }),
      pause: () => schedules.pause('every'),
      resume: () => schedules.resume('paused'),
      skip: () => schedules.skip('every', '2026-03-03T00:00:00Z'),
      unskip: () => schedules.unskip('every', '2026-03-02T00:00:00Z'),
      trigger: () => schedules.trigger('every'),
      backfill: () =>
        schedules.backfill('every', { from: '2026-03-01T12:10:00Z', to: '2026-03-01T12:20:00Z' }),
      rename: () => schedules.rename('every', 'other'),
      delete: () => schedules.delete('every'),
      sync: () => schedules.sync({ new: { job: 'work', timing: every('1 minute') } }, { source: 'x' }),
      group: () => schedules.pauseGroup('a'),
      enqueue: () => runs.enqueue('work', null),
      'enqueue in a transaction': () => database.transaction((tx) => runs.enqueue('work', null, { tx })),
      cancel: () => runs.cancel(waiting!.id),
      retry: () => runs.retry(failed!.id),
      claiming: () => claiming.pause(),
      'make a token': () => tokens.create({ name: 'x', role: 'viewer' }),
      'revoke a token': () => tokens.revoke(token.id),
      fire: () => full.advance('10 minutes'),
      start: () => escapement.start(),
      'start another': async () => (await createEscapement({ database, schema })).start(),
    }
    for (const [name, verb] of Object.entries(verbs)) {
      const outcome = await verb().then(
        () => 'done',
        (error) => error.code,
      )
      expect([name, outcome]).toEqual([name, 'moved'])
    }
    const statements = [
      `select "${schema}".enqueue('work')`,
      `delete from "${schema}".runs_ended`,
      `update "${schema}".cursors set wake_at = now()`,
      `truncate "${schema}".skips`,
      `insert into "${schema}".migrations (number, name) values (99, 'later')`,
    ]
    for (const statement of statements) {
      await expect(database.query(statement)).rejects.toMatchObject({
        code: 'MV001',
        message: expect.stringMatching(
          /^Everything here was moved away at 2026-03-01T.*escapement export --undo/,
        ),
      })
    }
    expect(await schedules.list()).toHaveLength(6)
    expect(await runs.list({ schedule: 'every' })).not.toEqual([])
    expect(await isClean(escapement)).toBe(true)
    full.jump('10 minutes')
    expect(await escapement.doctor()).toMatchObject([{ kind: 'moved', subject: exportId, command: null }])
    expect(await escapement.ready()).toEqual({ ready: false, reason: 'moved' })
    expect(await tokens.verify(token.token)).toMatchObject({ name: 'reader' })
    const session = await tokens.openSession(token.id)
    expect(await tokens.verify(session.token)).toMatchObject({ name: 'reader' })
    expect((await escapement.moved())?.exportId).toBe(exportId)
    await escapement.undoMove()
  })

  it('goes by in chunks of some size, also where large rows follow many that are small', async () => {
    const { escapement, schema } = await openPlace()
    for (const [size, count] of [
      [1, 1_100],
      [20_000, 200],
    ]) {
      await escapement.database.query(
        `select count("${schema}".enqueue('work', to_jsonb(repeat('x', ${size})))) from generate_series(1, ${count})`,
      )
    }
    const lines = await linesOf(escapement.export())
    expect(manifestOf(lines).rows.runs_asked).toBe(1_300)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(1_000_000)
  })

  it('is refused by a program that does not know all of the schema', async () => {
    const { escapement, schema } = full
    const { database } = escapement
    await database.query(`insert into "${schema}".migrations (number, name) values (99, 'later')`)
    for (const lines of [move(full), escapement.export()]) {
      await expect(linesOf(lines)).rejects.toMatchObject({
        code: 'database_unusable',
        message: expect.stringMatching(
          /^Nothing was exported: the schema ".*" has version 99, and this program/,
        ),
      })
    }
    expect(await escapement.moved()).toBeNull()
    await database.query(`delete from "${schema}".migrations where number = 99`)
  })

  it('the same export is given again, and undoing lets everything go on', async () => {
    const h = full
    const before = await contentsOf(h)
    const lines = await linesOf(move(h))
    expect(await linesOf(move(h))).toEqual(lines)
    expect(await linesOf(h.escapement.export())).toEqual(lines)
    await expect(h.escapement.import(lines)).rejects.toMatchObject({
      code: 'moved',
      message: expect.stringContaining('escapement export --undo'),
    })
    expect(await h.escapement.undoMove()).toBe(true)
    expect(await h.escapement.undoMove()).toBe(false)
    expect(await contentsOf(h)).toEqual(before)
    expect(manifestOf(await linesOf(move(h))).exportId).not.toBe(manifestOf(lines).exportId)
    await h.escapement.undoMove()
    await fireAt(h)
    expect(await isClean(h.escapement)).toBe(true)
  })

  it('loops that run say so once, stop firing, and stop when they are told to', async () => {
    const h = await openPlace()
    const said: string[] = []
    const note = (facts: object, message: string) => void said.push(`${message} ${JSON.stringify(facts)}`)
    const escapement = await createEscapement({
      database: h.escapement.database,
      schema: h.schema,
      logger: { debug() {}, info() {}, warn: note, error: note },
    })
    const fired: string[] = []
    escapement.job('work', { handler: ({ planTime }) => void fired.push(planTime!.toISOString()) })
    await escapement.schedules.put('often', { job: 'work', timing: every('1 second'), catchUp: 'all' })
    const first = new Promise((resolve) => escapement.on('run.succeeded', resolve))
    await escapement.start()
    await first
    const lines = await linesOf(escapement.export({ mode: 'move' }))
    const count = fired.length
    await expect.poll(() => said.length, { timeout: 10_000 }).toBeGreaterThan(0)
    await escapement.stop()
    await escapement.close()
    expect(said).toEqual([
      expect.stringMatching(/moved away at .*This process does nothing any more: stop it\. \{\}$/),
    ])
    expect(fired).toHaveLength(count)
    expect(JSON.parse(lines.at(-1)!).end.rows.runs_ended).toBe(count)
  })
})

describe('an export that is not as it was made', () => {
  let text: string
  let there: Place

  beforeAll(async () => {
    const here = await openPlace('here', afterAll)
    there = await openPlace('there', afterAll)
    here.job('work', { handler: () => null })
    await here.schedules.put('one', { job: 'work', timing: every('1 minute'), input: { secret: 'abc' } })
    await here.advance('5 minutes')
    text = (await linesOf(here.escapement.export())).join('')
  })

  async function refused(changed: string | Iterable<string | Uint8Array>): Promise<string> {
    const source = typeof changed === 'string' ? [changed] : changed
    const error = await there.escapement.import(source).catch((reason) => reason)
    expect(await there.schedules.list()).toEqual([])
    return `${error.code}: ${error.message}`
  }

  it('is refused, and nothing of it is imported', async () => {
    const end = text.lastIndexOf('\n', text.length - 2) + 1
    expect(await refused(text.slice(0, end))).toMatch(/^export_invalid: The export was cut off/)
    for (const [from, to] of [
      ['abc', 'abd'],
      ['"state":"active"', '"state":"brave!"'],
      ['"rows":[{', '"rows":[{{'],
      ['"id":', '"di":'],
    ] as const) {
      expect(await refused(text.replace(from, to))).toMatch(
        /^export_invalid: The export is not as it was made/,
      )
    }
  })

  it('says which version it needs', async () => {
    const level = await newestMigration()
    const newer = text.replace(`"schemaLevel":${level}`, `"schemaLevel":${level + 1}`)
    expect(await refused(newer.replace('"version":"0.0.0"', '"version":"7.1.0"'))).toMatch(
      /schema version \d+ \(Escapement 7\.1\.0\), and this is schema version \d+ \(Escapement 0\.0\.0\)\. Import it with Escapement 7\.1\.0/,
    )
  })

  it('leaves nothing when the import is cut off, and can be imported then', async () => {
    function* dying() {
      yield text.slice(0, text.length >> 1)
      throw Object.assign(new Error('killed'), { code: 'killed' })
    }
    expect(await refused(dying())).toBe('killed: killed')
    expect((await there.escapement.import([text])).isNew).toBe(true)
    expect(await there.escapement.import([text])).toMatchObject({ isNew: false })
    expect(await there.schedules.list()).toHaveLength(1)
  })
})

describe('a place that holds something', () => {
  it('takes no export but what was moved away from it, as it has become', async () => {
    const [here, there, stranger] = [await openPlace(), await openPlace('there'), await openPlace()]
    for (const { job } of [here, there, stranger]) job('work', { handler: () => null })
    await here.schedules.put('mine', { job: 'work', timing: every('1 minute') })
    await there.schedules.put('theirs', { job: 'work', timing: every('1 minute') })
    await there.schedules.trigger('theirs')
    const copy = await linesOf(here.escapement.export())
    await expect(there.escapement.import(copy)).rejects.toMatchObject({
      code: 'target_not_empty',
      message: expect.stringMatching(/: 1 schedules, 2 runs, \d changes\. Import/),
    })
    await linesOf(move(there))
    await expect(there.escapement.import(copy)).rejects.toMatchObject({ code: 'target_not_empty' })
    await stranger.schedules.put('strange', { job: 'work', timing: every('1 minute') })
    await expect(there.escapement.import(move(stranger))).rejects.toMatchObject({
      code: 'target_not_empty',
      message: expect.stringContaining('does not come from where it went'),
    })
    expect(await there.schedules.list()).toMatchObject([{ name: 'theirs' }])
  })
})

describe('before the cut', () => {
  it('handlers are waited for, and a move that is refused names them and changes nothing', async () => {
    const h = await openPlace()
    let refusal: { code?: string; message?: string; details?: object } = {}
    let runId = ''
    h.job('slow', {
      async handler({ run }) {
        runId = run.id
        refusal = await linesOf(move(h, { wait: '0.05s' })).catch((error) => error)
      },
    })
    await h.schedules.put('slow', { job: 'slow', timing: every('1 minute') })
    await h.advance('1 minute')
    expect(refusal).toMatchObject({ code: 'run_open', details: { runs: [runId], total: 1 } })
    expect(refusal.message).toMatch(
      new RegExp(`Nothing was moved: .*${runId} \\(job slow of slow, process \\d+ on `),
    )
    expect(await h.escapement.moved()).toBeNull()
    await h.advance('1 minute')
    const states = (await h.runs.list({ schedule: 'slow' })).map(({ state }) => state)
    expect(states).toEqual(['succeeded', 'succeeded', 'succeeded'])
  })

  it('nothing is claimed while somebody waits, which passes by itself if they die', async () => {
    const h = await openPlace()
    const started: string[] = []
    let waited: Promise<unknown> | undefined
    let release = () => {}
    h.job('work', {
      async handler({ run }) {
        started.push(run.id)
        if (waited) return
        const giveUp = new AbortController()
        const held = new Promise<void>((resolve) => {
          release = resolve
        })
        waited = linesOf(move(h, { signal: giveUp.signal })).catch((error) => error)
        await expect
          .poll(
            async () =>
              (await h.escapement.database.query(`select claiming_held_until from "${h.schema}".control`))[0],
          )
          .toMatchObject({ claiming_held_until: expect.any(Date) })
        giveUp.abort(new Error('Ctrl+C'))
        await held
      },
    })
    await h.runs.enqueue('work', 1)
    const working = h.advance('0s')
    await expect.poll(() => waited).toBeDefined()
    expect(await waited).toMatchObject({ message: 'Ctrl+C' })
    release()
    await working
    await h.escapement.database.query(
      `update "${h.schema}".control set claiming_held_until = $1::timestamptz + interval '10 seconds'`,
      [h.now()],
    )
    await h.runs.enqueue('work', 2)
    await h.advance('9 seconds')
    expect(started).toHaveLength(1)
    expect((await h.escapement.claiming.status()).paused).toBe(false)
    h.jump('1 second')
    await h.advance('0s')
    expect(started).toHaveLength(2)
  })

  it('whoever reads the export and stops has moved nothing', async () => {
    const h = full
    const before = await contentsOf(h)
    for (const taken of [1, 3, 12]) {
      const lines = move(h)
      for (let index = 0; index < taken; index++) expect((await lines.next()).done).toBe(false)
      await lines.return()
      expect(await h.escapement.moved()).toBeNull()
    }
    expect(await contentsOf(h)).toEqual(before)
    await fireAt(h)
    expect(await isClean(h.escapement)).toBe(true)
  })

  it('options that are none are refused', async () => {
    const h = full
    expect(() => h.escapement.export({ mode: 'mov' as never })).toThrow(
      /mode: "mov" – must be one of .*did you mean "move"/,
    )
    expect(() => h.escapement.export({ wait: 'soon' as never })).toThrow(/wait: "soon"/)
  })
})
