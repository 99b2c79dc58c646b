import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createEscapement, once, set } from '../../src/index.js'
import { serve } from '../../src/server/serve.js'
import {
  createPostgresDatabase,
  freshSchemaName,
  openTestDatabase,
  postgresUrl,
} from '../support/database.js'
import { spawnEscapement } from '../support/escapement-process.js'
import { openHarness } from '../support/harness.js'
import { damageOf } from '../support/process-with-zone-data.js'

const demo = fileURLToPath(new URL('../../examples/demo/escapement.config.ts', import.meta.url))

const logging = fileURLToPath(new URL('fixtures/logging.config.ts', import.meta.url))

const hanging = fileURLToPath(new URL('fixtures/hanging.config.ts', import.meta.url))

function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-cli-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs a command to its end in an empty folder. */
async function run(args: string[], env?: Record<string, string>, cwd = temporaryFolder()) {
  const process = spawnEscapement(args, { cwd, ...(env && { env }) })
  const status = await process.ended
  return { status, lines: process.lines.filter((line) => line !== '') }
}

/** `escapement up` in an empty folder, until the test ends. */
async function up(cwd: string, args: string[] = []) {
  const process = spawnEscapement(['up', '--port', '0', '--config', demo, ...args], { cwd })
  onTestFinished(() => void process.child.kill('SIGKILL'))
  await process.line(/^Escapement /)
  return process
}

describe('one clear line and a status that is not zero for', () => {
  it('a DATABASE_URL where nothing listens', async () => {
    const { status, lines } = await run(['up'], { DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/app' })
    expect({ status, lines }).toEqual({
      status: 3,
      lines: [
        'error: Cannot use PostgreSQL at 127.0.0.1:1/app: nothing listens there. Is the server running, and is the port right?',
      ],
    })
  })

  it('a DATABASE_URL that is none, without repeating it', async () => {
    const { status, lines } = await run(['up'], { DATABASE_URL: 'me:secret@localhost/app' })
    expect(status).toBe(2)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^error: database: is not a PostgreSQL URL; write postgres:\/\//)
    expect(lines[0]).not.toContain('secret')
  })

  it('a database that does not exist', async () => {
    const url = new URL(postgresUrl())
    url.pathname = '/no_such_database'
    const { status, lines } = await run(['migrate', '--database', url.href])
    expect(status).toBe(3)
    expect(lines).toEqual([
      expect.stringMatching(/no_such_database: there is no database of that name\. Create it first/),
    ])
  })

  it('an unknown option, with the one that was meant', async () => {
    expect(await run(['up', '--prot', '1'])).toEqual({
      status: 2,
      lines: ["error: unknown option '--prot' (Did you mean --port?)"],
    })
  })

  it('an unknown command, with the one that was meant', async () => {
    expect(await run(['schedule', 'list'])).toEqual({
      status: 2,
      lines: ["error: unknown command 'schedule' (Did you mean one of scheduler, schedules?)"],
    })
  })

  it('a port that is not one, and one that is in use', async () => {
    expect(await run(['up', '--port', 'http'])).toMatchObject({
      status: 2,
      lines: [expect.stringContaining("'--port <number>' argument 'http' is invalid")],
    })
    const server = net.createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as net.AddressInfo
    expect(await run(['up', '--port', String(port)])).toEqual({
      status: 1,
      lines: [
        `error: Cannot listen on 127.0.0.1:${port}: the port is in use. Choose another with --port, or --port 0 for any.`,
      ],
    })
  })

  it('a directory in use, naming who has it', async () => {
    const cwd = temporaryFolder()
    const first = await up(cwd)
    const url = /http:\S+/.exec(first.lines[0]!)![0]
    expect(await run(['up', '--port', '0'], {}, cwd)).toEqual({
      status: 1,
      lines: [
        `error: ./.escapement is in use by process ${first.child.pid} (${url}). Talk to that one, stop it, or choose another directory.`,
      ],
    })
    expect(await run(['worker'], {}, cwd)).toEqual({
      status: 1,
      lines: [
        `error: ./.escapement is in use by process ${first.child.pid} (${url}), and an embedded database belongs to one process. A worker beside it needs PostgreSQL: name it with --database or DATABASE_URL, for both.`,
      ],
    })
  })

  it('nothing to list', async () => {
    const { status, lines } = await run(['schedules', 'list'])
    expect(status).toBe(1)
    expect(lines).toEqual([
      expect.stringMatching(/^error: Nothing to ask: no server runs on \.\/\.escapement/),
    ])
  })

  it('a server that does not answer', async () => {
    // One that was free a moment ago: fetch itself refuses the well-known ones that are always free.
    const server = net.createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`
    await new Promise((resolve) => server.close(resolve))
    expect(await run(['schedules', 'list', '--url', url])).toEqual({
      status: 3,
      lines: [
        `error: Cannot reach the server at ${url}: nothing listens there. Start one with "escapement up", or name another --url.`,
      ],
    })
  })

  it('a configuration that is missing, throws, or declares nonsense', async () => {
    const cwd = temporaryFolder()
    fs.writeFileSync(path.join(cwd, 'throws.ts'), `throw new Error('on purpose')`)
    fs.writeFileSync(
      path.join(cwd, 'nonsense.ts'),
      `export default { schedules: { 'a b': { job: 'x', timing: { kind: 'every', every: 'soon' }, prioritiy: 1 } } }`,
    )
    const lines = async (config: string) => (await run(['up', '--config', config], {}, cwd)).lines
    expect(await lines('no.ts')).toEqual(['error: There is no configuration file no.ts.'])
    expect(await lines('throws.ts')).toEqual([
      'error: throws.ts:1: on purpose',
      "         1 | throw new Error('on purpose')",
    ])
    const nonsense = (await lines('nonsense.ts')).join('\n')
    expect(nonsense).toContain(`nonsense.ts:1:31: schedules['a b']: "a b" – use letters`)
    expect(nonsense).toContain(`schedules['a b'].prioritiy: unknown field (did you mean "priority"?)`)
    expect(nonsense).toContain(`schedules['a b'].timing.every: "soon"`)
  })
})

describe('up', () => {
  it('prints its runs, is found by a second terminal, answers this machine only, and stops on SIGTERM with status 0', async () => {
    const cwd = temporaryFolder()
    const process = await up(cwd)
    await process.line(/^✔ \d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}demo:every-5-seconds {2}[\d.]+ ms$/)
    const list = await run(['schedules', 'list'], {}, cwd)
    expect(list.status).toBe(0)
    expect(list.lines[0]).toMatch(/^NAME +STATE +NEXT +DISTANCE +TIMING +JOB$/)
    expect(list.lines.slice(1).map((line) => line.split(/ {2,}/))).toMatchObject([
      [
        'demo:every-5-seconds',
        'active',
        expect.stringMatching(/^\d{4}-/),
        expect.any(String),
        'Every 5 seconds',
        'greet',
      ],
      [
        'demo:every-minute',
        'active',
        expect.stringMatching(/^\d{4}-/),
        expect.any(String),
        'Every minute',
        'greet',
      ],
    ])
    const json = await run(['schedules', 'list', '--json'], {}, cwd)
    expect(JSON.parse(json.lines.join('\n'))).toMatchObject([
      { name: 'demo:every-5-seconds', job: 'greet', version: 1 },
      { name: 'demo:every-minute' },
    ])
    expect((await run(['audit'], {}, cwd)).lines).toEqual([
      expect.stringMatching(/^✔ \d+ occurrences of 2 schedules: each has one answer\.$/),
    ])
    expect((await run(['doctor'], {}, cwd)).lines).toEqual([
      '✔ Nothing is wrong.',
      expect.stringMatching(
        /^ {2}escapement .* · pglite 1.* · schema escapement \d+ · time zone data \d{4}[a-z]+ · clocks /,
      ),
    ])
    const { port } = new URL(/http:\S+/.exec(process.lines[0]!)![0])
    const status = (headers: Record<string, string>) => statusOf(Number(port), headers)
    expect(await status({ host: `127.0.0.1:${port}` })).toBe(200)
    expect(await status({ host: 'rebound.example' })).toBe(403)
    expect(await status({ host: `localhost:${port}`, origin: 'https://evil.example' })).toBe(403)
    expect(await process.kill('SIGTERM')).toBe(0)
    // Nobody runs any more: the folder itself answers.
    expect((await run(['schedules', 'list'], {}, cwd)).lines).toHaveLength(3)
  })

  it('waits for what runs at the first signal, and stops at once at the second', async () => {
    const schema = freshSchemaName()
    const args = ['up', '--port', '0', '--config', hanging, '--schema', schema]
    const process = spawnEscapement(args, { cwd: temporaryFolder(), env: { DATABASE_URL: postgresUrl() } })
    onTestFinished(() => void process.child.kill('SIGKILL'))
    await process.line(/^at work$/)
    process.child.kill('SIGTERM')
    await process.line(/^Stopping… waits for 1 run; Ctrl\+C again ends it at once$/)
    expect(await process.kill('SIGINT')).toBe(130)
  })

  it('writes nothing but records with --log json, those of handlers and of ends with what they are about', async () => {
    const schema = freshSchemaName()
    const args = ['up', '--port', '0', '--config', logging, '--schema', schema, '--log', 'json']
    const process = spawnEscapement(args, { cwd: temporaryFolder(), env: { DATABASE_URL: postgresUrl() } })
    onTestFinished(() => void process.child.kill('SIGKILL'))
    await process.line(/a run succeeded/)
    await process.line(/a run failed/)
    await process.line(/run.failed: on purpose/)
    await process.line(/started/)
    expect(await process.kill('SIGTERM')).toBe(0)
    const records = process.lines.map((line) => JSON.parse(line))
    const named = (msg: string) => records.filter((record) => record.msg === msg)
    const of = { time: expect.stringMatching(/^\d{4}-.*Z$/), runId: expect.any(String), attempt: 1 }
    const occurrence = { ...of, scope: 'global', planTime: '2026-01-01T00:00:00.000Z' }
    const ended = { ...occurrence, scheduleId: expect.any(String), durationMs: expect.any(Number) }
    expect(named('hello')).toEqual([
      { ...occurrence, level: 'info', msg: 'hello', step: 1, job: 'speaks', schedule: 's' },
    ])
    expect(named('run.failed: on purpose')).toMatchObject([{ job: 'tells', of: 't' }])
    expect(named('a run succeeded').filter(({ job }) => job === 'speaks')).toEqual([
      { ...ended, level: 'info', msg: 'a run succeeded', job: 'speaks', schedule: 's' },
    ])
    expect(named('a run failed')).toEqual([
      {
        ...ended,
        level: 'error',
        msg: 'a run failed',
        job: 'fails',
        schedule: 't',
        err: { code: 'handler_error', message: 'on purpose' },
      },
    ])
    expect(named('started')).toMatchObject([{ level: 'info', url: expect.stringMatching(/^http:/) }])
    // What was in hand may end after it.
    expect(named('stopping')).toMatchObject([{ level: 'info', running: expect.any(Number) }])
    expect(records.filter(({ level }) => level === 'debug')).toEqual([])
  })
})

describe('audit', () => {
  it('shows what other zone data account for, and ends with status 0 if that is all', async () => {
    const h = await openHarness({ at: '2026-03-01T09:30:00Z' })
    h.job('noop', { handler: () => {} })
    await h.schedules.put('s', { job: 'noop', timing: once('2026-03-01T12:00', { zone: 'Europe/Paris' }) })
    const damage = damageOf(h)
    await damage.cursor('s', `next_at = '2026-03-01T10:00Z', wake_at = '2026-03-01T10:00Z'`)
    await h.advance('1 hour')
    await damage.query(`update {schema}.schedules set zone_data = '2020a'`)
    await damage.query(`update {schema}.changes set zone_data = '2020a'`)
    await damage.cursor('s', `decided_through = '2026-03-01T12:00Z'`)
    await damage.schedule('s', `state = 'finished'`)
    const { status, lines } = await run(['audit', '--database', postgresUrl(), '--schema', h.schema])
    expect([status, ...lines.slice(0, 2)]).toEqual([
      0,
      '✔ 1 occurrences of 1 schedules: no mistake found.',
      '! 2 more differ where other time zone data computed the plan times: no mistakes, not proven either.',
    ])
    expect(lines.slice(3).map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
      ['zone_data', 's'],
      ['zone_data', 's'],
    ])
  })
})

describe('preview', () => {
  const args = ['preview', '--cron', '30 2 * * *', '--zone', 'America/New_York', '--from', '2026-03-07T12:00']

  it('prints JSON with a note where the zone moved an occurrence', async () => {
    const { status, lines } = await run([...args, '--count', '2', '--json'])
    expect(status).toBe(0)
    expect(JSON.parse(lines.join(''))).toEqual({
      description: 'At 02:30, every day, New York time',
      occurrences: [
        {
          planTime: '2026-03-08T07:30:00.000Z',
          local: '2026-03-08T03:30:00-04:00',
          note: expect.stringContaining('02:30 does not exist on 2026-03-08'),
        },
        { planTime: '2026-03-09T06:30:00.000Z', local: '2026-03-09T02:30:00-04:00' },
      ],
    })
  })

  it('prints a table with local time, the zone, UTC and the distance', async () => {
    const { lines } = await run([...args, '--count', '1'], { TZ: 'Asia/Kolkata' })
    expect(lines[0]).toBe('At 02:30, every day, New York time')
    expect(lines[1]!.split(/ {2,}/)).toEqual(['LOCAL', 'AMERICA/NEW_YORK', 'UTC', 'DISTANCE', 'NOTE'])
    expect(lines[2]!.split(/ {2,}/)).toEqual([
      '2026-03-08 13:00:00',
      '2026-03-08 03:30:00-04:00',
      '2026-03-08 07:30:00',
      expect.stringMatching(/ ago$|^in /),
      expect.stringContaining('moved to 03:30'),
    ])
  })

  it('includes the instant that it starts from', async () => {
    const { lines } = await run([
      'preview',
      '--every',
      '1 day',
      '--from',
      '2026-01-01',
      '--count',
      '1',
      '--json',
    ])
    expect(JSON.parse(lines.join('')).occurrences).toMatchObject([{ planTime: '2026-01-01T00:00:00.000Z' }])
  })

  it.each([
    [
      ['--cron', '0 0 30 2 *'],
      'error: timing.expression: "0 0 30 2 *" – never happens: no such day exists in any year',
    ],
    [['--cron', '61 * * * *'], 'error: timing.expression: "61 * * * *" – minute 61 is out of range 0–59'],
    [['--every', '5m', '--zone', 'Mars/X'], 'error: timing.zone: "Mars/X" – is not an IANA time zone'],
    [[], 'error: Give exactly one of --cron, --every, --at, --after, --rrule.'],
    [
      ['--at', '2026-01-01', '--after', '1h'],
      'error: Give exactly one of --cron, --every, --at, --after, --rrule, not 2.',
    ],
    [
      ['--every', '1 day', '--from', 'soon'],
      expect.stringMatching(/^error: --from: "soon" – is not an ISO 8601/),
    ],
  ])('refuses %j in one line', async (flags, message) => {
    expect(await run(['preview', ...flags])).toEqual({ status: 2, lines: [message] })
  })
})

describe('migrate', () => {
  const schema = freshSchemaName()
  const args = ['migrate', '--schema', schema]

  beforeAll(() => async () => {
    const database = await openTestDatabase()
    await database.query(`drop schema if exists "${schema}" cascade`)
    await database.close()
  })

  it('shows with --dry-run what it would do, does it, and then has nothing to do', async () => {
    const env = { DATABASE_URL: postgresUrl() }
    const dry = await run([...args, '--dry-run'], env)
    expect(dry.lines.join('\n')).toContain(`create table "${schema}".runs_asked (`)
    expect((await run(args, env)).lines[0]).toBe(`Applied 0001_core to schema "${schema}".`)
    expect((await run(args, env)).lines).toEqual([
      expect.stringMatching(`^Schema "${schema}" is up to date \\(\\d+\\)\\.$`),
    ])
  })
})

/** `fetch` does not let a caller choose the Host header, which is what an attacker's page does choose. */
function statusOf(port: number, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/api/v1/schedules', headers }
    http.get(options, (response) => resolve(response.resume().statusCode)).on('error', reject)
  })
}

describe('transitions on the command line', () => {
  const publish = "set('status', { from: 'draft', to: 'published' })"

  it('are listed and swept with the configuration, or by the server that has declared them', async () => {
    const schema = freshSchemaName()
    const folder = temporaryFolder()
    fs.writeFileSync(
      path.join(folder, 'escapement.config.ts'),
      `import { defineConfig, set } from 'escapement'
       export default defineConfig({ transitions: { '${schema}.posts': { fields: { publish_at: ${publish} } } } })`,
    )
    const { url: database, drop } = await createPostgresDatabase()
    const escapement = await createEscapement({ database, schema, sweeper: { batchSize: 2 } })
    const { query } = escapement.database
    const server = await serve(escapement, { port: 0 })
    onTestFinished(async () => {
      await server.close()
      await escapement.close()
      await drop()
    })
    await query(
      `create table "${schema}".posts (id integer primary key, status text check (id <> 2 or status <> 'published'), publish_at timestamptz)`,
    )
    await query(
      `insert into "${schema}".posts select n, 'draft', now() - interval '1 hour' from generate_series(1, 3) as n`,
    )
    await escapement.transitions.declare(`${schema}.posts`, {
      fields: { publish_at: set('status', { from: 'draft', to: 'published' }) },
    })

    const onDatabase = ['--database', database, '--schema', schema]
    const listed = await run(['transitions', ...onDatabase], {}, folder)
    expect(listed).toEqual({
      status: 0,
      lines: [
        expect.stringMatching(/^TABLE +FIELD +ACTION +DUE +NEXT +QUARANTINED$/),
        expect.stringMatching(new RegExp(`^${schema}.posts +publish_at +status draft → published +3 +– +0$`)),
      ],
    })
    const swept = await run(['sweep', '--json', ...onDatabase], {}, folder)
    expect(swept.status).toBe(1)
    const table = `${schema}.posts`
    const counts = { updated: 2, deleted: 0, skipped: 0, quarantined: 1, truncated: false }
    expect(JSON.parse(swept.lines.join('\n'))).toEqual({
      ...counts,
      tables: [{ table, ...counts }],
      errors: [{ table, key: { id: 2 }, message: expect.stringContaining('violates check constraint') }],
    })
    await query(`alter table "${schema}".posts drop constraint posts_check`)
    await query(
      `insert into "${schema}".posts select n, 'draft', now() - interval '1 hour' from generate_series(4, 6) as n`,
    )
    const byServer = await run(['sweep', '--quarantined', '--url', server.url], {}, folder)
    expect(byServer).toEqual({
      status: 0,
      lines: [
        expect.stringMatching(/^TABLE +UPDATED +DELETED +SKIPPED +QUARANTINED$/),
        expect.stringMatching(new RegExp(`^${schema}.posts +4 +0 +0 +0$`)),
      ],
    })
  })
})

describe('tokens on the command line', () => {
  it('are made, listed and revoked, and open a server that other machines can reach', async () => {
    const schema = freshSchemaName()
    const onDatabase = ['--database', postgresUrl(), '--schema', schema]
    const database = await openTestDatabase()
    onTestFinished(async () => {
      await database.query(`drop schema if exists "${schema}" cascade`)
      await database.close()
    })
    const open = ['up', '--port', '0', '--host', '0.0.0.0', ...onDatabase]
    expect(await run(open)).toEqual({
      status: 2,
      lines: [
        'error: host: "0.0.0.0" can be reached from other machines, and there is no token yet. Make one first: escapement tokens create <name> --role admin',
      ],
    })
    expect(await run(['tokens', 'create', 'ann', '--role', 'amin', ...onDatabase])).toMatchObject({
      status: 2,
    })
    const screen = await run(['tokens', 'create', 'screen', '--role', 'viewer', ...onDatabase])
    expect(screen.lines).toContainEqual(
      expect.stringMatching(
        /^warning: This is the first token, .*escapement tokens create <name> --role admin --database/,
      ),
    )
    const made = await run(['tokens', 'create', 'ann', '--role', 'admin', '--json', ...onDatabase])
    const { token, id } = JSON.parse(made.lines.join('\n'))
    const server = spawnEscapement(open, { cwd: temporaryFolder() })
    onTestFinished(() => void server.child.kill('SIGKILL'))
    const url = /http:\S+/.exec(await server.line(/^Escapement /))![0].replace('0.0.0.0', '127.0.0.1')
    expect(await run(['tokens', 'list', '--url', url])).toEqual({
      status: 4,
      lines: [expect.stringMatching(/^error: A valid token is needed.* --token or ESCAPEMENT_TOKEN/)],
    })
    const known = { ESCAPEMENT_TOKEN: token }
    expect((await run(['tokens', 'list', '--url', url], known)).lines).toEqual([
      expect.stringMatching(/^ID +NAME +ROLE +GROUP +STATE +EXPIRES +LAST USED$/),
      expect.stringMatching(new RegExp(`^${id} +ann +admin +– +live +– +\\d{4}-`)),
      expect.stringMatching(/ screen +viewer +– +live +– +–$/),
    ])
    expect(await run(['tokens', 'revoke', id, '--url', url], known)).toEqual({
      status: 0,
      lines: ['✔ Revoked.'],
    })
    expect(await run(['schedules', 'list', '--url', url], known)).toMatchObject({ status: 4 })
    await server.kill('SIGTERM')
  })
})
