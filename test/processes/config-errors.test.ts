import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LoadedConfig, loadConfig } from '../../src/cli/config-file.js'
import { declareAll } from '../../src/cli/declaring.js'
import { createReloading } from '../../src/cli/reloading.js'
import { syncConfig } from '../../src/cli/syncing.js'
import { createEscapement, defineJob, type Escapement, every, rrule, set } from '../../src/index.js'
import { freshSchemaName, openTestDatabase } from '../support/database.js'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-config-'))
let files = 0

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

/** What is said of a configuration, with `config.ts` for its file. */
async function refusal(text: string, beside: Record<string, string> = {}): Promise<string> {
  files += 1
  const own = path.join(folder, String(files))
  fs.mkdirSync(own)
  for (const [name, content] of Object.entries(beside)) fs.writeFileSync(path.join(own, name), content)
  const file = path.join(own, 'config.ts')
  fs.writeFileSync(file, text)
  const error: Error & { code?: string } = await loadConfig(file).then(
    () => expect.fail('it was loaded'),
    (error) => error,
  )
  expect(error.code).toBe('config_invalid')
  const shown = path.relative('', own)
  // The longer way first: it may end in the other.
  return error.message.replaceAll(`${shown}/`, '').replaceAll(`${own}/`, '')
}

const USES = `import { cron, defineConfig, defineJob, every } from 'escapement'
interface Longer {
  than: 'one line'
}
`

it('what is null in a configuration is as good as absent', async () => {
  const file = path.join(folder, 'nothing.ts')
  fs.writeFileSync(file, 'export default { options: null, notify: null, http: null, jobs: null }')
  const { source: _, ...config } = await loadConfig(file)
  expect(config).toEqual({})
})

describe('a configuration that cannot be loaded names the line', () => {
  it('of a syntax error, with a mark under it', async () => {
    expect(await refusal(`${USES}\nexport default defineConfig({\n  jobs: [],,\n})\n`)).toBe(
      'config.ts:7:12: Unexpected token\n  7 |   jobs: [],,\n    |            ^',
    )
  })

  it('of a field that throws, and says what else is no configuration', async () => {
    expect(await refusal(`export default {\n  get jobs() {\n    throw new Error('none')\n  },\n}`)).toMatch(
      /^config.ts:3: none\n/,
    )
    expect(await refusal('export default Promise.resolve({ jobs: [] })')).toMatch(
      /its default export is no configuration/,
    )
    await expect(loadConfig(folder)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('EISDIR'),
    })
  })

  it.each([
    [
      'a timing that is wrong',
      `${USES}export default defineConfig({\n  schedules: {\n    a: {\n      job: 'x',\n      timing: cron('61 * * * *'),\n    },\n  },\n})`,
      'config.ts:9: timing.expression: "61 * * * *" – minute 61 is out of range 0–59\n  9 |       timing: cron(\'61 * * * *\'),',
    ],
    [
      'a job without a handler, behind types, enums and decorators that are compiled away',
      `${USES}enum Size {\n  Small,\n  Large,\n}\nabstract class A<T> {\n  constructor(private x: T) {}\n  abstract y(): Size\n}\nconst job = defineJob('x', {} as never)\nexport default {}`,
      'config.ts:13: job "x": handler: undefined – must be a function\n  13 | const job = defineJob(\'x\', {} as never)',
    ],
    [
      'an error of their own, thrown in a function that was called',
      `const load = (): never => {\n  throw new TypeError('no such thing')\n}\nexport default { jobs: load() }`,
      "config.ts:2: TypeError: no such thing\n  2 |   throw new TypeError('no such thing')",
    ],
    [
      'what fails after an await',
      `${USES}await Promise.resolve()\nconst timing = every('0s')\nexport default {}`,
      expect.stringMatching(/^config\.ts:6: timing\.every: "0s" .*\n {2}6 \| const timing = every\('0s'\)$/),
    ],
    [
      'a file that is not there',
      `${USES}import { x } from './nowhere.js'\nexport default { jobs: x }`,
      "config.ts:5: Cannot find module './nowhere.js'\n  5 | import { x } from './nowhere.js'",
    ],
    [
      'a package that is not there',
      `import { x } from 'no-such-package-at-all'\nexport default { jobs: x }`,
      "config.ts:1: Cannot find module 'no-such-package-at-all'\n  1 | import { x } from 'no-such-package-at-all'",
    ],
  ])('of %s', async (_, text, message) => {
    expect(await refusal(text)).toEqual(message)
  })

  it('of a file that it imports', async () => {
    const config = `import { jobs } from './jobs.js'\nexport default { jobs }`
    const jobs = `${USES}export const jobs = [\n  defineJob('x', { handler() {}, retrys: 1 } as never),\n]`
    expect(await refusal(config, { 'jobs.ts': jobs })).toContain('jobs.ts:6: job "x": retrys: unknown field')
    expect(await refusal(config, { 'jobs.ts': 'export const jobs = [\n' })).toBe(
      'jobs.ts:2:1: Unexpected token',
    )
  })

  it('nowhere, where it threw what is no error', async () => {
    expect(await refusal(`throw 'a fit'`)).toBe('config.ts: threw a fit')
  })

  it.each([
    ['export const jobs = []', 'has no default export'],
    ['export default () => ({})', 'its default export is no configuration'],
    ['export default 5', 'its default export is no configuration'],
  ])('nowhere, and what to write instead of %j', async (text, message) => {
    expect(await refusal(text)).toBe(
      `config.ts: ${message}; write: export default defineConfig({ jobs, schedules })`,
    )
  })
})

describe('a configuration that is wrong names every mistake with its line', () => {
  it('in the order of the file', async () => {
    const text = `${USES}
const a = defineJob('a', { handler() {}, input: { '~standard': { version: 1, vendor: 'x', validate: () => ({ issues: [{ message: 'no', path: ['to'] }] }) } } })
const options = {
  worker: { concurrency: 0, queues: ['a'] }, pooler: true, // concurrency: 1
  database: 'postgres://x', notify: [],
}
export default {
  shedules: {},
  jobs: [a, defineJob('a', { handler() {} }),
    'b'],
  schedules: {
    'a b': { job: 'x', timing: { kind: 'every', every: 'soon' } },
    'with:input': { job: 'a', timing: every('1 day'), input: {
      to: 1 } },
    computed: { job: 'a', timing: cron('0 9 * * *'), ...{ overlap: 'never' } },
    none: null,
  },
  transitions: 5,
  prune: 'yes',
  http: { timeout: 'soon', alow: [] },
  notify: [{ on: ['run.failed'], job: 'a' }, {
    on: ['run.faild'], job: 'a' }],
  options,
}`
    expect((await refusal(text)).split('\n')).toEqual([
      'config.ts:8:13: options.worker.concurrency: 0 – must be a whole number from 1 to 2147483647',
      'config.ts:9:3: options.database: is decided on the command line; leave it out',
      'config.ts:9:29: options.notify: has its place beside options, not in them',
      'config.ts:12:3: shedules: unknown field (did you mean "schedules"?)',
      'config.ts:13:13: jobs[1]: there is another job "a", jobs[0]; names are unique',
      "config.ts:14:5: jobs[2]: must come from defineJob('name', { handler })",
      expect.stringMatching(/^config\.ts:16:5: schedules\['a b'\]: "a b" – use letters/),
      expect.stringMatching(/^config\.ts:16:49: schedules\['a b'\]\.timing\.every: "soon" – /),
      "config.ts:18:7: schedules['with:input'].input.to: no",
      expect.stringMatching(/^config\.ts:19:5: schedules\.computed\.overlap: "never" – /),
      expect.stringMatching(/^config\.ts:20:5: schedules\.none: null – must be an object/),
      expect.stringMatching(/^config\.ts:22:3: transitions: must be an object/),
      'config.ts:23:3: prune: "yes" – must be true or false',
      expect.stringMatching(/^config\.ts:24:11: http\.timeout: "soon" – is not a duration/),
      'config.ts:24:28: http.alow: unknown option (did you mean "allow"?)',
      expect.stringMatching(
        /^config\.ts:26:5: notify\[1\]\.on: "run\.faild" – must be .*did you mean "run\.failed"/,
      ),
    ])
  })

  it('or with the file alone, where they come from another', async () => {
    const config = `import { config } from './made.js'\nexport default config`
    const made = 'export const config = { schedules: [] }'
    expect(await refusal(config, { 'made.ts': made })).toBe(
      'config.ts: schedules: must be an object, by name',
    )
  })
})

describe('on a database', () => {
  const sourceOf = (text: string) => ({ file: 'config.ts', text })
  let escapement: Escapement

  beforeAll(async () => {
    const database = await openTestDatabase()
    escapement = await createEscapement({ database, schema: freshSchemaName() })
    return async () => {
      await escapement.close()
      await database.close()
    }
  })

  it('the mistakes of all tables are told, each with its line', async () => {
    const fields = { at: set('x', { to: 1 }), until: {} } as never
    const config: LoadedConfig = {
      transitions: { 'no.posts': { fields }, 'no.tags': { fields: {} } },
      source: sourceOf(
        "export default { transitions: {\n'no.posts': {\nfields: {\nuntil: {} } },\n'no.tags': {} } }",
      ),
    }
    const error = await declareAll(escapement, config).catch((error) => error)
    expect(error.code).toBe('config_invalid')
    expect(error.message.split('\n')).toEqual([
      expect.stringMatching(
        /^config\.ts:2:1: transitions\['no\.posts'\]: there is none of that name in the schema "no"/,
      ),
      expect.stringMatching(/^config\.ts:4:1: transitions\['no\.posts'\]\.fields\.until: has no action/),
      expect.stringMatching(/^config\.ts:5:1: transitions\['no\.tags'\]\.fields: declares no field/),
      expect.stringMatching(/^config\.ts:5:1: transitions\['no\.tags'\]: there is none of that name/),
    ])
  })

  it('schedules that are no longer declared are deleted or named, as is asked for', async () => {
    const job = defineJob('noop', { handler() {} })
    escapement.job(job)
    const one = { job, timing: every('1 day') }
    const put = (config: LoadedConfig, isEmbedded = false) =>
      syncConfig(escapement, { ...config, source: sourceOf('') }, { isEmbedded })
    await escapement.schedules.put('by-hand', one)
    const changed = { put: [], deleted: [], left: [] }
    expect(await put({ schedules: { a: one, b: one, c: one } })).toEqual({ ...changed, put: ['a', 'b', 'c'] })
    expect(await put({})).toEqual(changed)
    expect(await put({ schedules: { a: one, b: one } })).toEqual({ ...changed, left: ['c'] })
    expect(await put({ schedules: { a: one, b: one }, prune: true })).toEqual({ ...changed, deleted: ['c'] })
    expect(await put({ schedules: { a: one }, prune: false }, true)).toEqual({ ...changed, left: ['b'] })
    expect(await put({ schedules: { a: one } }, true)).toEqual({ ...changed, deleted: ['b'] })
  })

  it('what only the database can tell has its line too', async () => {
    const closed = defineJob('closed', { gate: () => ({ reason: 'not today' }), handler() {} })
    escapement.job(closed)
    const put = (schedules: NonNullable<LoadedConfig['schedules']>) => {
      const source = sourceOf('export default { schedules: {\n  x: {\n    job, timing } } }')
      return syncConfig(escapement, { schedules, source }, { isEmbedded: false })
    }
    const timing = every('1 day')
    await expect(put({ x: { job: 'nope', timing } })).rejects.toThrow(
      'config.ts:3:5: schedules.x.job: there is no job "nope"',
    )
    await expect(put({ x: { job: closed, timing } })).rejects.toThrow(
      'config.ts:2:3: schedules.x: "x" cannot be enabled: not today',
    )
    const past = rrule('DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY;COUNT=3')
    await expect(put({ x: { job: closed, timing: past, paused: true } })).rejects.toThrow(
      'config.ts:3:10: schedules.x.timing: "x" would never run',
    )
  })
})

describe('--watch needs', () => {
  it('a file', () => {
    expect(() => createReloading(undefined)).toThrow(
      '--watch: there is no escapement.config.ts here to watch; name one with --config',
    )
  })

  it('what a link leads to', async () => {
    const own = path.join(folder, 'linked')
    fs.mkdirSync(own)
    fs.writeFileSync(path.join(own, 'real.ts'), 'export default {}')
    fs.symlinkSync(path.join(own, 'real.ts'), path.join(folder, 'link.ts'))
    const reloading = createReloading(path.join(folder, 'link.ts'))
    await reloading.first()
    const loaded = new Promise<LoadedConfig>((resolve, onRefused) => {
      reloading.begin({ onLoaded: async (config) => resolve(config), onRefused })
    })
    fs.writeFileSync(path.join(own, 'real.ts'), 'export default { prune: true }')
    expect(await loaded).toMatchObject({ prune: true })
    await reloading.end()
  })

  it('nothing that is still loading when it ends', async () => {
    const file = path.join(folder, 'slow.ts')
    fs.writeFileSync(file, 'export default {}')
    const reloading = createReloading(file)
    await reloading.first()
    const handed: unknown[] = []
    reloading.begin({ onLoaded: async (config) => void handed.push(config), onRefused: expect.fail })
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const loading = new Promise<void>((begin) => {
      Object.assign(globalThis, { slowConfig: { begin, gate } })
    })
    fs.writeFileSync(file, 'slowConfig.begin()\nawait slowConfig.gate\nexport default { prune: true }')
    await loading
    const ended = reloading.end()
    open()
    await ended
    expect(handed).toEqual([])
  })

  it('one that Node does not keep', async () => {
    const file = path.join(folder, 'other.mjs')
    fs.writeFileSync(file, 'export default {}')
    const reloading = createReloading(file)
    await expect(reloading.first()).rejects.toThrow(
      `--watch: ${file} is a JavaScript module, which Node keeps as it has loaded it. Rename it to end in .ts`,
    )
    await reloading.end()
  })
})
