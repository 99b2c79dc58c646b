import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createEscapement, type Escapement, every } from '../../src/index.js'
import type { ListeningServer } from '../../src/server/listen.js'
import { serve } from '../../src/server/serve.js'
import { runCommand } from '../support/command.js'
import { freshSchemaName, sharedDatabase } from '../support/database.js'

let escapement: Escapement
let server: ListeningServer
const schema = freshSchemaName()
const run = (line: string, ...more: string[]) => runCommand([...line.split(' '), ...more])
const json = async (line: string, ...more: string[]) => JSON.parse((await run(`${line} --json`, ...more)).out)
const failedId = async () => (await json('runs list --state failed'))[0].id

beforeAll(async () => {
  escapement = await createEscapement({ database: await sharedDatabase(), schema })
  escapement.job('greet', { handler: ({ input }) => ({ hello: input }) })
  escapement.job('fail', {
    retry: { attempts: 1 },
    handler() {
      throw new Error('no route to host')
    },
  })
  escapement.job('wait', { handler: () => new Promise(() => {}), timeout: '1 minute' })
  server = await serve(escapement, { port: 0 })
  vi.stubEnv('ESCAPEMENT_URL', server.url)
  await escapement.schedules.put('yearly', { job: 'greet', timing: every('365 days'), group: 'acme' })
  await escapement.start({ roles: ['worker'] })
})

afterAll(async () => {
  vi.unstubAllEnvs()
  await server.close()
  await escapement.database.query(`drop schema if exists "${schema}" cascade`)
  await escapement.close()
})

describe('runs on the command line', () => {
  it('are asked for and waited for', async () => {
    const { status, out } = await run('runs enqueue greet --wait --input', '{"name":"Ann"}')
    expect(out).toMatch(/^✔ [\w-]{36} succeeded \(took \d.*\): \{"hello":\{"name":"Ann"\}\}$/)
    expect(status).toBe(0)
  })

  it('that fail end the command with status 1', async () => {
    const { status, out } = await run('runs enqueue fail --wait')
    expect(out).toMatch(/^✘ [\w-]{36} failed \(.*\): no route to host$/)
    expect(status).toBe(1)
  })

  it('are one under one key', async () => {
    const ask = () => run('runs enqueue greet --key once --at', 'in 2 days')
    expect((await ask()).out).toMatch(/^✔ [\w-]{36} is asked for\.$/)
    expect((await ask()).out).toMatch(/^✔ [\w-]{36} was asked for before, under the same key\.$/)
  })

  it.each([
    [['enqueue', 'greett'], 1, /there is no job "greett" \(did you mean "greet"\?\)/],
    [
      ['enqueue', 'greet', '--input', '{name: 1}'],
      2,
      /^--input: is no JSON: .*--input '\{"customer": "acme"\}'$/,
    ],
    [['enqueue', 'greet', '--input', '@no-such-file'], 2, /^--input: cannot read no-such-file: ENOENT/],
    [
      ['enqueue', 'greet', '--at', 'soonish'],
      2,
      /'--at <time>' argument 'soonish' is invalid\. It must be a time: "2026-/,
    ],
    [['enqueue', 'greet', '--priority', 'high'], 2, /It must be a whole number\./],
    [['enqueue'], 2, /missing required argument 'job'/],
    [['list', '--state', 'faild'], 2, /"faild" is no state \(did you mean "failed"\?\); there are pending, /],
    [['list', '--limit', '0'], 2, /It must be a whole number from 1 on\./],
    [['list', '--schedule', 'nobody'], 1, /There is no schedule "nobody"/],
    [['get', '123'], 2, /must be an id, which is a UUID/],
    [['get', '0199d2c4-3f6b-7c0e-9d53-5f0c6c1b7a11'], 1, /There is no run "0199d2c4-/],
    [['cancel'], 2, /missing required argument 'ids'/],
    [['retry'], 2, /^Give the ids of failed runs, or --failed for all of them\.$/],
    [['retry', '--failed'], 2, /There is no terminal to ask at: add --yes/],
    [['lst'], 2, /unknown command 'lst'.*Did you mean list\?/s],
    [['list', '--sate', 'x'], 2, /unknown option '--sate'.*Did you mean --state\?/s],
  ])('%j is refused', async (args, status, message) => {
    const result = await runCommand(['runs', ...args])
    expect(result.err).toMatch(message)
    expect(result.status).toBe(status)
  })

  it('are listed newest first, filtered, and as many as asked for', async () => {
    await run('runs enqueue fail --wait')
    const all = await run('runs list')
    expect(all.out).toMatch(/^ID +STATE +JOB +TRIGGER +PLANNED +TOOK +NOTE\n/)
    const failed = await run('runs list --state failed,cancelled --job fail --from', '1 hour ago')
    expect(failed.out.split('\n').length).toBeGreaterThan(2)
    expect(failed.out).toMatch(/failed +fail +direct +\d{4}-.*no route to host$/m)
    const one = await run('runs list --limit 1')
    expect(one.out.split('\n')).toHaveLength(2)
    expect(one.err).toBe('… the first 1; --limit or --all shows more')
    expect((await run('runs list --state skipped')).out).toMatch(/^There are no such runs/)
  })

  it('are shown with their attempts', async () => {
    const id = await failedId()
    const { out } = await run(`runs get ${id}`)
    expect(out).toMatch(new RegExp(`^${id}  failed\njob +fail\ntrigger +direct\n`))
    expect(out).toMatch(/^attempts +1 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}handler_error: no route to host$/m)
    expect((await run(`runs get ${id} --stack`)).out).toMatch(/\n {2}Error: no route to host\n {6}at /)
  })

  it('that have failed are tried again, by id or all that a filter finds', async () => {
    const id = await failedId()
    expect(await run(`runs retry ${id}`)).toMatchObject({ status: 0, out: `✔ ${id} is tried again.` })
    await vi.waitFor(async () => expect((await escapement.runs.get(id))?.state).toBe('failed'))
    expect((await run('runs retry --failed --yes --job nobody')).out).toBe('✔ 0 runs are tried again.')
    expect(await json(`runs retry --failed --yes --job fail`)).toMatchObject({ blocked: 0 })
  })

  it('are cancelled, and a second time is refused', async () => {
    const { id } = await json('runs enqueue wait')
    const cancelled = await run(`runs cancel ${id} --reason`, 'wrong customer')
    expect(cancelled).toMatchObject({ status: 0, out: `✔ ${id} is cancelled.` })
    expect((await run(`runs get ${id}`)).out).toContain('wrong customer')
  })
})

describe('how things stand', () => {
  it('is on one screen', async () => {
    const { out } = await run('status')
    expect(out).toMatch(/^PostgreSQL 1\d\S*, schema "/)
    expect(out).toMatch(/^schedules +1 active, 0 paused, 0 broken, 0 finished$/m)
    expect(out).toMatch(/^workers +1 alive$/m)
  })

  it('is told of jobs, workers and queues', async () => {
    expect((await run('jobs')).out).toMatch(
      /^NAME +WORKERS +ATTEMPTS +TIMEOUT +AT ONCE +NOTES\nfail +1 working +1 /,
    )
    expect((await run('workers')).out).toMatch(/^WORKER +STATE .*\n\S+:\d+ +alive +\d+\/10 +default +/)
    expect((await run('queues')).out).toMatch(/^QUEUE +READY .*\ndefault +\d+ +1 /)
    expect(await json('jobs')).toHaveLength(3)
  })

  it('is changed for all: nothing is begun until claiming is resumed', async () => {
    expect((await run('claiming status')).out).toBe('✔ Runs are begun.')
    await run('claiming pause --reason', 'the mail server is down')
    expect((await run('claiming status')).out).toMatch(
      /^! No run is begun since \d{4}-.*: the mail server is down$/,
    )
    expect((await run('status')).out).toContain('the mail server is down')
    expect((await run('claiming resume')).out).toBe('✔ Runs are begun.')
  })

  it('is drawn for what is to come', async () => {
    await escapement.schedules.put('hourly', { job: 'greet', timing: every('1 hour'), queue: 'mail' })
    const { out } = await run('forecast --by queue --for', '6 hours')
    expect(out).toMatch(/^queue mail: 6 runs, the most at \d{4}-/)
    expect(out).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}1 {2}█+$/m)
    const { out: json } = await run('forecast --json --for', '6 hours')
    const hour = expect.objectContaining({ queue: 'mail', runs: 1 })
    expect(JSON.parse(json)).toEqual({ isEstimate: false, buckets: expect.arrayContaining([hour]) })
    expect(await run('forecast --for soon')).toMatchObject({
      status: 2,
      err: expect.stringContaining('--for'),
    })
    expect((await run('forecast --from 2020-01-01 --for', '1 day')).out).toBe(
      'No run is planned in that time.',
    )
    await escapement.schedules.delete('hourly')
  })

  it('is proven, in pages', async () => {
    expect(await run('audit')).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^✔ \d+ occurrences of \d schedules: each/),
    })
    const names = Array.from({ length: 3 }, (_, index) => `paged:${index}`)
    for (const name of names) await escapement.schedules.put(name, { job: 'greet', timing: every('1 day') })
    const first = await escapement.audit({ limit: 2 })
    const rest = await escapement.audit({ pageToken: first.nextPageToken! })
    expect(first.schedules).toBe(2)
    expect(first.schedules + rest.schedules).toBe((await escapement.audit()).schedules)
    expect(rest.nextPageToken).toBeNull()
    await expect(escapement.audit({ limit: 0, pageToken: 'x' })).rejects.toThrow(/limit: .*\npageToken: /)
    expect(await run('reconcile')).toMatchObject({ status: 0, out: '✔ No cursor is damaged.' })
  })
})
