import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createProgram } from '../../src/cli/program.js'
import { createHandler } from '../../src/server/handler.js'
import { type ListeningServer, listen } from '../../src/server/listen.js'
import { createHarness, type Harness } from '../../src/testing/harness.js'
import { runCommand } from '../support/command.js'
import { freshSchemaName, sharedDatabase } from '../support/database.js'
import { inTerminal } from '../support/terminal.js'

const AT = '2026-11-15T15:30:00.000Z'
const schema = freshSchemaName()
const folder = fs.mkdtempSync(path.join(tmpdir(), 'escapement-cli-'))
let h: Harness
let server: ListeningServer

beforeAll(async () => {
  // What is printed has distances from now in it: the host's clock stands where the database's does.
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(AT) })
  h = await createHarness({ at: AT, database: await sharedDatabase(), schema })
  h.job('send', { handler: ({ input }) => ({ sent: input }) })
  h.job('fails', {
    retry: { attempts: 1 },
    handler: () => {
      throw new Error('refused')
    },
  })
  const handler = createHandler(h.escapement, { authenticate: () => ({ name: 'ann', role: 'admin' }) })
  server = await listen(handler, { host: '127.0.0.1', port: 0 })
  afterAll(async () => {
    await server.close()
    handler.close()
    await h.escapement.database.query(`drop schema "${schema}" cascade`)
    await h.close()
    fs.rmSync(folder, { recursive: true })
    vi.useRealTimers()
  })
})

const run = (...args: string[]) => runCommand([...args, '--url', server.url])
const schedules = (...args: string[]) => run('schedules', ...args)

/** The JSON that a command prints. */
async function json(...args: string[]) {
  const { status, out, err } = await schedules(...args, '--json')
  expect([status, err]).toEqual([0, ''])
  return JSON.parse(out)
}

function fileOf(content: unknown): string {
  const file = path.join(folder, 'file.json')
  fs.writeFileSync(file, JSON.stringify(content))
  return file
}

const NINE = ['--cron', '0 9 * * MON-FRI', '--zone', 'America/New_York']
const next = '2026-11-16 10:30 (in 23 hours, 09:00 in America/New_York)'

describe('schedules put', () => {
  it('creates, and says what is so now; the same again changes nothing', async () => {
    const put = ['put', 'put:a', '--job', 'send', ...NINE, '--input', '{"customer":"acme"}']
    const line = { status: 0, out: `✔ put:a is active; next ${next}, version 1`, err: '' }
    expect(await schedules(...put)).toEqual(line)
    expect(await schedules(...put)).toEqual(line)
    expect(await json('get', 'put:a')).toMatchObject({ input: { customer: 'acme' }, version: 1 })
  })

  it('tells every mistake that the server finds by its flag', async () => {
    expect(
      await schedules('put', 'put:b', '--job', 'send', '--cron', '61 * * * *', '--grace', 'soon'),
    ).toEqual({
      status: 2,
      out: '',
      err: expect.stringMatching(
        /^--cron: "61 \* \* \* \*" – minute 61 .*\n--grace: "soon" – is not a duration/,
      ),
    })
    const { err } = await schedules('put', 'put:b', '--job', 'sned', '--every', '1h')
    expect(err).toMatch(/^--job: there is no job "sned" \(did you mean "send"\?\)/)
  })

  it('never replaces with --create, nor another version than that of --if-version', async () => {
    const put = ['put', 'put:c', '--job', 'send', '--every']
    await schedules(...put, '1h')
    expect(await schedules(...put, '2h', '--create')).toMatchObject({
      status: 1,
      err: expect.stringMatching(/there is a schedule "put:c" already/),
    })
    expect(await schedules(...put, '2h', '--if-version', '7')).toMatchObject({
      status: 1,
      err: expect.stringMatching(/is at version 1, not 7/),
    })
    expect(await schedules(...put, '2h', '--if-version', '1', '--create')).toMatchObject({ status: 2 })
    expect((await schedules(...put, '2h', '--if-version', '1')).out).toMatch(/, version 2$/)
  })

  it('shows with --dry-run what would change, or be new, and changes nothing', async () => {
    const put = ['put', 'put:d', '--job', 'send', '--dry-run']
    expect((await schedules(...put, ...NINE)).out.split('\n').slice(0, 2)).toEqual([
      'Would create put:d. At 09:00, Monday to Friday, New York time.',
      `+ ${next}`,
    ])
    expect(await schedules('get', 'put:d')).toMatchObject({ status: 1 })
    await schedules('put', 'put:d', '--job', 'send', ...NINE, '--group', 'acme')
    expect(await json(...put, ...NINE)).toMatchObject({ fields: ['group'] })
    expect(await schedules(...put, ...NINE, '--create')).toMatchObject({ status: 1 })
  })

  it('takes back what "get --json" prints, and flags beside it', async () => {
    await schedules('put', 'put:e', '--job', 'send', '--every', '1h', '--breaker', '3', '--scope', 'a')
    const file = fileOf(await json('get', 'put:e'))
    expect((await schedules('put', 'put:e', '--file', file, '--dry-run')).out).toBe('Nothing would change.')
    expect(await json('put', 'put:f', '--file', file, '--group', 'beta')).toMatchObject({
      name: 'put:f',
      group: 'beta',
      scopes: ['a'],
      breaker: { failures: 3 },
    })
  })

  it('creates paused, and warns where --paused pauses nothing', async () => {
    const put = ['put', 'put:g', '--job', 'send', '--every', '1h', '--paused']
    expect((await schedules(...put)).out).toMatch(/^✔ put:g is paused since .* by ann, version 1$/)
    await schedules('resume', 'put:g')
    expect(await schedules(...put, '--group', 'x')).toMatchObject({
      out: expect.stringContaining('is active'),
      err: expect.stringMatching(/^warning: It existed already, .*schedules pause put:g$/),
    })
  })
})

describe('schedules patch and diff', () => {
  it('change a part of the timing, take fields away, and show it first', async () => {
    await schedules('put', 'patch:a', '--job', 'send', ...NINE, '--group', 'acme', '--description', 'words')
    const edit = ['--zone', 'Europe/Paris', '--clear', 'group']
    const diff = await schedules('diff', 'patch:a', ...edit, '--count', '2')
    expect(diff.out.split('\n')).toEqual([
      'Would change: group, timing.',
      '~ 2026-11-16 10:30 → 2026-11-16 04:30 (in 17 hours, 09:00 in Europe/Paris)',
      '~ 2026-11-17 10:30 → 2026-11-17 04:30 (in 41 hours, 09:00 in Europe/Paris)',
      'Of its next plan times: 2 moved.',
    ])
    expect((await schedules('patch', 'patch:a', ...edit, '--dry-run')).out).toMatch(
      /^Would change: group, timing/,
    )
    expect((await schedules('patch', 'patch:a', ...edit)).out).toBe(
      '✔ patch:a is active; next 2026-11-16 04:30 (in 17 hours, 09:00 in Europe/Paris), version 2',
    )
    expect(await json('get', 'patch:a')).toMatchObject({
      group: null,
      description: 'words',
      timing: { expression: '0 9 * * MON-FRI', zone: 'Europe/Paris' },
    })
  })

  it('refuse to change nothing, and what is wrong by its flag', async () => {
    await schedules('put', 'patch:b', '--job', 'send', '--every', '1h')
    expect(await schedules('patch', 'patch:b')).toMatchObject({
      status: 2,
      err: expect.stringMatching(/^Nothing to/),
    })
    expect(await schedules('patch', 'patch:b', '--breaker-cooldown', '1h')).toMatchObject({
      status: 2,
      err: '--breaker: is missing',
    })
    expect(await schedules('patch', 'patch:b', '--grace', '1m', '--if-version', '2')).toMatchObject({
      status: 1,
    })
  })
})

describe('a schedule that is not there', () => {
  it.each([
    ['get', 'put:aa'],
    ['pause', 'put:aa', '--until', '2026-12-01'],
    ['skip', 'put:aa', 'next'],
    ['delete', 'put:aa', '--yes'],
    ['patch', 'put:aa', '--zone', 'UTC'],
    ['occurrences', 'put:aa'],
    ['backfill', 'put:aa', '--from', '2026-11-01'],
  ])('%s names the one that was meant', async (...args) => {
    await schedules('put', 'put:a', '--job', 'send', ...NINE)
    expect(await schedules(...args)).toEqual({
      status: 1,
      out: '',
      err: expect.stringMatching(/^There is no schedule "put:aa" \(did you mean "put:a"\?\)/),
    })
  })
})

describe('what is typed wrong', () => {
  it.each([
    [
      ['trigger'],
      /missing required argument 'name' \(usage: escapement schedules trigger \[options\] <name>\)/,
    ],
    [
      ['pause'],
      /^Give the name of a schedule, or --group, --job, --search or --state for all like that, or --all\.$/,
    ],
    [['resume', 'x', '--all'], /^Give the name of a schedule, or --group/],
    [['pause', '--state', 'finished'], /Allowed choices are active, paused, broken/],
    [['backfill', 'x'], /required option '--from <time>' not specified \(usage: /],
    [['pause', 'x', '--resaon', 'y'], /unknown option '--resaon' \(Did you mean --reason\?\)/],
    [['pase', 'x'], /unknown command 'pase' \(Did you mean pause\?\)/],
    [['list', '--state', 'activ'], /Allowed choices are active, paused, broken, finished/],
    [['list', '--limit', '0'], /It must be a whole number from 1 on/],
  ])('%j', async (args, message) => {
    expect(await schedules(...args)).toEqual({ status: 2, out: '', err: expect.stringMatching(message) })
  })
})

describe('schedules list and get', () => {
  it('find schedules by group, job, state and words, and tell why one is broken', async () => {
    const broken = ['--job', 'fails', '--every', '1 minute', '--breaker', '1', '--group', 'found']
    await schedules('put', 'list:broken', ...broken, '--description', 'an invoice')
    await schedules('put', 'list:fine', '--job', 'send', '--at', '2027-01-01T09:00', '--group', 'found')
    await h.advance('1 minute')
    const { out } = await schedules('list', '--group', 'found')
    expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['NAME', 'STATE', 'NEXT', 'DISTANCE', 'TIMING', 'JOB'],
      ['list:broken', 'broken', '–', 'Every minute', 'fails'],
      [
        'list:fine',
        'active',
        '2027-01-01 05:30',
        'in 47 days',
        'Once, on 1 January 2027 at 09:00, UTC',
        'send',
      ],
      [''],
      [expect.stringMatching(/^✘ list:broken is broken since 2026-11-15 12:00 .*: a scheduled run failed/)],
    ])
    const names = async (...args: string[]) =>
      (await json('list', ...args)).map(({ name }: { name: string }) => name)
    expect(await names('--state', 'broken')).toEqual(['list:broken'])
    expect(await names('--job', 'fails')).toEqual(['list:broken'])
    expect(await names('--search', 'invoice')).toEqual(['list:broken'])
    expect((await schedules('list', '--search', 'nothing-of-that')).out).toBe('No schedule is like that.')
    expect(await schedules('list', '--group', 'found', '--limit', '1')).toMatchObject({
      err: '… the first 1; --limit or --all shows more',
    })
    expect((await schedules('get', 'list:broken')).out).toMatch(
      /next +none until .*\nlast runs +failed .* \(refused\)/s,
    )
    expect((await schedules('history', 'list:broken')).out).toMatch(/failed +scheduled +[0-9a-f-]{36}$/)
  })
})

describe('schedules pause, resume, rename, delete', () => {
  it('say what is so now', async () => {
    await schedules('put', 'verb:a', '--job', 'send', ...NINE)
    const paused = await schedules('pause', 'verb:a', '--until', '2026-12-01T09:00', '--reason', 'moving')
    expect(paused.out).toBe(
      '✔ verb:a is paused until 2026-12-01 10:30 (in 16 days, 09:00 in America/New_York) by ann: moving',
    )
    expect((await json('pause', 'verb:a', '--until', '2 hours')).stateNote.until).toBe(
      new Date(h.now().getTime() + 2 * 3_600_000).toISOString(),
    )
    expect(await schedules('pause', 'verb:a', '--until', 'soon')).toMatchObject({
      status: 2,
      err: expect.stringMatching(/^--until: "soon" – is not a duration/),
    })
    expect((await schedules('resume', 'verb:a')).out).toBe(`✔ verb:a is active; next ${next}`)
    expect((await schedules('rename', 'verb:a', 'verb:b')).out).toBe(
      `✔ verb:a → verb:b is active; next ${next}`,
    )
    expect(await schedules('delete', 'verb:b')).toMatchObject({
      status: 2,
      err: expect.stringMatching(
        /^Delete verb:b and keep its runs\? There is no terminal to ask at: add --yes/,
      ),
    })
    expect(
      (await schedules('changes', 'verb:b')).out.split('\n').map((line) => line.split(/ {2,}/)[3]),
    ).toEqual(['ACTION', 'rename', 'resume', 'pause', 'pause', 'put'])
    expect(await json('delete', 'verb:b', '--yes')).toEqual({ name: 'verb:b', deleted: true, runs: 'keep' })
    expect(await schedules('get', 'verb:b')).toMatchObject({ status: 1 })
  })
})

describe('schedules skip and unskip', () => {
  it('take a plan time in the zone of the schedule, or the next', async () => {
    await schedules('put', 'skip:a', '--job', 'send', ...NINE)
    const later = '2026-11-17 10:30 (in 47 hours, 09:00 in America/New_York)'
    expect((await schedules('skip', 'skip:a', 'next')).out).toBe(`✔ skip:a skips ${next}; next ${later}`)
    await schedules('skip', 'skip:a', '2026-11-17T09:00')
    expect((await json('preview', 'skip:a', '--count', '3')).occurrences).toMatchObject([
      { skipped: true },
      { skipped: true },
      { skipped: false },
    ])
    expect((await schedules('preview', 'skip:a')).out).toMatch(/in 23 hours +to be skipped$/m)
    expect((await schedules('unskip', 'skip:a', 'next')).out).toBe(
      `✔ skip:a no longer skips ${next}; next ${next}`,
    )
    expect(await schedules('skip', 'skip:a', '2026-11-17T10:00')).toMatchObject({
      status: 1,
      err: expect.stringMatching(
        /^time: 2026-11-17T15:00:00.000Z is no plan time of "skip:a". The nearest: /,
      ),
    })
    expect((await schedules('changes', 'skip:a', '--limit', '1')).out).toMatch(/unskip 2026-11-16 10:30/)
  })
})

describe('schedules trigger', () => {
  it('follows the run to its end with --wait, and fails if it does', async () => {
    const ended = async (name: string) => {
      const created = new Promise<void>((resolve) => h.escapement.on('run.created', () => resolve()))
      const command = schedules('trigger', name, '--wait')
      await created
      await h.advance('1 second')
      return command
    }
    for (const job of ['send', 'fails'])
      await schedules('put', `trigger:${job}`, '--job', job, '--every', '1 year')
    expect(await ended('trigger:send')).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^✔ [0-9a-f-]{36} succeeded .*: \{"sent":null\}$/),
    })
    expect(await ended('trigger:fails')).toMatchObject({
      status: 1,
      out: expect.stringMatching(/^✘ [0-9a-f-]{36} failed .*: refused$/),
    })
  })

  it('gives the same run for the same key', async () => {
    await schedules('put', 'trigger:b', '--job', 'send', '--every', '1 year')
    const first = await json('trigger', 'trigger:b', '--key', 'x', '--input', '[1]')
    expect(first).toMatchObject({ created: true })
    expect((await schedules('trigger', 'trigger:b', '--key', 'x')).out).toBe(
      `✔ trigger:b has that run already: ${first.id}`,
    )
  })
})

describe('schedules backfill and occurrences', () => {
  it('show the plan times that were skipped, run them once, and show what became of them', async () => {
    await schedules('put', 'fill:a', '--job', 'send', '--every', '1 hour', '--scope', 'a', '--scope', 'b')
    await schedules('pause', 'fill:a')
    const from = h.now().toISOString()
    h.jump('3 hours')
    await schedules('resume', 'fill:a')
    const range = ['fill:a', '--from', from, '--to', h.now().toISOString()]
    const found = /^3 plan times, 6 runs of fill:a were skipped, 2026-11-15 \d\d:30 to \d\d:30\.$/
    expect(await schedules('backfill', ...range, '--dry-run')).toMatchObject({
      out: expect.stringMatching(found),
    })
    expect(await schedules('backfill', ...range)).toMatchObject({
      status: 2,
      err: expect.stringMatching(/were skipped, .*\.\nRun them\? There is no terminal to ask at/),
    })
    expect(await schedules('backfill', ...range, '--yes')).toMatchObject({
      out: '✔ 6 runs of fill:a were made',
    })
    expect((await schedules('backfill', ...range, '--yes')).out).toMatch(/^Nothing to run: /)
    await h.advance('1 second')
    const ledger = await schedules('occurrences', ...range)
    expect(ledger.out.split('\n').map((line) => line.split(/ {2,}/)[3])).toEqual([
      'OUTCOME',
      ...Array.from({ length: 6 }, () => 'succeeded'),
    ])
    expect((await json('occurrences', 'fill:a')).at(-1)).toMatchObject({ disposition: 'upcoming' })
  })

  it('refuse a range that is none, and a schedule that has no grid', async () => {
    await schedules('put', 'fill:b', '--job', 'send', '--after', '1 hour')
    const range = ['--from', '2026-11-02', '--to', '2026-11-01']
    expect(await schedules('occurrences', 'fill:b', ...range)).toMatchObject({ status: 2 })
    expect(await schedules('backfill', 'fill:b', '--from', '2 days ago')).toMatchObject({
      status: 2,
      err: expect.stringMatching(/it has no plan times in the past to fill/),
    })
  })
})

describe('schedules sync', () => {
  it('puts what a file declares, and prunes what it no longer does', async () => {
    const definition = { job: 'send', timing: { kind: 'every', every: '1h' } }
    const sync = ['--source', 'file', '--prune']
    expect(
      (await schedules('sync', fileOf({ 'sync:a': definition, 'sync:b': definition }), ...sync)).out,
    ).toBe('✔ 2 schedules are as declared: 2 changed (sync:a, sync:b)')
    const file = fileOf((await json('list', '--search', 'sync:a')).slice(0, 1))
    expect((await schedules('sync', file, ...sync)).out).toBe(
      '✔ 1 schedule is as declared: 1 deleted (sync:b)',
    )
    expect((await schedules('sync', file, ...sync)).out).toBe(
      '✔ 1 schedule is as declared: nothing had to be changed',
    )
    expect(await schedules('sync', fileOf({ 'sync:a': { job: 'send' } }))).toMatchObject({
      status: 2,
      err: 'schedules.sync:a.timing: is missing',
    })
  })
})

describe('groups pause and resume', () => {
  it('say how many they changed, and name the group that was meant', async () => {
    for (const name of ['a', 'b']) {
      await schedules('put', `group:${name}`, '--job', 'send', '--every', '1 day', '--group', 'customers')
    }
    expect((await run('groups', 'pause', 'customers', '--until', '2 hours', '--reason', 'x')).out).toBe(
      '✔ 2 schedules were paused in the group "customers"',
    )
    expect((await run('groups', 'pause', 'customers')).out).toMatch(/^Nothing was changed: /)
    await schedules('resume', 'group:a')
    expect((await run('groups', 'resume', 'customers')).out).toBe(
      '✔ 1 schedule was resumed in the group "customers"',
    )
    expect(await run('groups', 'resume', 'customer')).toMatchObject({
      status: 1,
      err: expect.stringMatching(/no schedule in the group "customer" \(did you mean "customers"\?\)/),
    })
    expect(await run('groups', 'pause', 'customers', '--until', '2020-01-01')).toMatchObject({
      status: 2,
      err: expect.stringMatching(/^--until: 2020-01-01.* – has passed/),
    })
  })
})

describe('schedules pause and resume with a filter', () => {
  it('count first, and say how many they changed', async () => {
    for (const name of ['a', 'b']) {
      await schedules('put', `many:${name}`, '--job', 'send', '--every', '1 day', '--group', 'many')
    }
    const filter = ['--search', 'many', '--job', 'send']
    expect(await schedules('pause', ...filter)).toMatchObject({
      status: 2,
      err: expect.stringMatching(/^Pause 2 schedules of the job "send" with the words "many"\? .* add --yes/),
    })
    const paused = await schedules('pause', ...filter, '--reason', 'x', '--until', '2 hours', '--yes')
    expect(paused.out).toBe('✔ 2 schedules were paused')
    expect((await json('get', 'many:b')).stateNote).toMatchObject({
      reason: 'x',
      until: new Date(h.now().getTime() + 7_200_000).toISOString(),
    })
    expect((await schedules('pause', '--group', 'many')).out).toBe(
      'Nothing was changed: no schedule of the group "many" could be paused.',
    )
    expect(await schedules('pause', '--group', 'many', '--until', '2020-01-01')).toMatchObject({
      status: 2,
      err: expect.stringMatching(/^--until: 2020-01-01.* – has passed/),
    })
    expect(await schedules('resume', '--search', '...', '--yes')).toMatchObject({
      status: 2,
      err: expect.stringMatching(/^--search: "\.\.\." – has no letter or digit/),
    })
    await schedules('resume', 'many:a')
    expect(await json('resume', '--group', 'many', '--state', 'paused', '--yes')).toEqual({ changed: 1 })
  })
})

describe('the help of every command here', () => {
  it('has a summary in one style and at least two examples', () => {
    const all = createProgram().commands.filter((command) => ['schedules', 'groups'].includes(command.name()))
    const verbs = all.flatMap((command) => command.commands)
    expect(verbs).toHaveLength(20)
    for (const verb of verbs) {
      const help: string[] = []
      verb.configureOutput({ writeOut: (text) => void help.push(text) }).outputHelp()
      expect(verb.summary()).toMatch(/^[a-z].*[^.]$/)
      expect(
        help
          .join('')
          .split('Examples:\n')[1]!
          .match(/^ {2}escapement /gm)!.length,
        verb.name(),
      ).toBeGreaterThan(1)
    }
  })
})

describe('a backfill that is stopped', () => {
  it('ends between two portions, says what is left, and goes on when it is repeated', async () => {
    await schedules('put', 'fill:c', '--job', 'send', '--every', '1 second')
    await schedules('pause', 'fill:c')
    const from = h.now().toISOString()
    h.jump('20 minutes')
    await schedules('resume', 'fill:c')
    const args = ['fill:c', '--from', from, '--to', h.now().toISOString(), '--yes']
    const off = h.escapement.on('run.created', () => {
      off()
      process.emit('SIGINT')
    })
    expect(await schedules('backfill', ...args)).toMatchObject({
      status: 130,
      out: '✔ 1,000 runs of fill:c were made',
      err: expect.stringMatching(/\nStopped: 199 runs are left\. Repeat the command to make them\.$/),
    })
    expect((await json('backfill', ...args, '--dry-run')).planTimes).toHaveLength(199)
  })
})

describe('at a terminal', () => {
  const at = (args: string[], options: Parameters<typeof inTerminal>[1] = {}) =>
    inTerminal([...args, '--url', server.url], { columns: 80, ...options })

  it('a mistake is told flag by flag, and a list fits', async () => {
    const wrong = await at([
      'schedules',
      'put',
      'tty:a',
      '--job',
      'send',
      '--cron',
      '61 * * * *',
      '--grace',
      'x',
    ])
    expect(wrong.status).toBe(2)
    expect(wrong.screen).toMatch(/^error: --cron: "61 .*\n {7}--grace: "x" – /)
    await schedules('put', 'tty:with-a-rather-long-name', '--job', 'send', ...NINE, '--group', 'tty')
    const { screen } = await at(['schedules', 'list', '--group', 'tty'])
    expect(screen.split('\n')).toEqual([
      expect.stringMatching(/^NAME +STATE +NEXT +TIMING$/),
      expect.stringMatching(
        /^tty:with-a-rather-long-name {2}active {2}2026-11-16 10:30 {2}At 09:00, Monday.*…$/,
      ),
    ])
  })

  it('a delete asks, and deletes only at a yes', async () => {
    await schedules('put', 'tty:b', '--job', 'send', '--every', '1 day')
    const args = ['schedules', 'delete', 'tty:b', '--runs', 'delete']
    const question = 'Delete tty:b with all its runs and its history? [y/N]'
    const no = await at(args, { answers: [[/y\/N/, 'n\r']] })
    expect(no).toMatchObject({ status: 130, screen: `${question} n\nerror: Nothing was changed.` })
    const yes = await at(args, { answers: [[/y\/N/, 'y\r']] })
    expect(yes).toMatchObject({ status: 0, screen: `${question} y\n✔ tty:b is deleted, with its runs` })
  })

  it('a backfill shows what it found, asks, and clears its progress away', async () => {
    await schedules('put', 'tty:c', '--job', 'send', '--every', '1 minute')
    await schedules('pause', 'tty:c')
    const from = h.now().toISOString()
    h.jump('1 hour')
    await schedules('resume', 'tty:c')
    const args = ['schedules', 'backfill', 'tty:c', '--from', from, '--to', h.now().toISOString()]
    const { status, screen } = await at(args, { answers: [[/y\/N/, 'y\r']] })
    expect({ status, lines: screen.split('\n') }).toEqual({
      status: 0,
      lines: [
        expect.stringMatching(/^60 plan times of tty:c were skipped, 2026-11-15 /),
        'Run them? [y/N] y',
        '✔ 60 runs of tty:c were made',
      ],
    })
  })
})
