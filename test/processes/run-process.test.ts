import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createPostgresDatabase } from '../support/database.js'
import { type EscapementProcess, type SpawnOptions, spawnEscapement } from '../support/escapement-process.js'

const split = fileURLToPath(new URL('fixtures/split.config.ts', import.meta.url))

function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-process-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

function start(args: readonly string[], options: SpawnOptions): EscapementProcess {
  const process = spawnEscapement(args, options)
  onTestFinished(() => void process.child.kill('SIGKILL'))
  return process
}

const urlOf = (line: string) => /http:[^\s,]+/.exec(line)![0]

describe('worker and scheduler', () => {
  it('carry out a configuration together, each its part, and finish what runs when they are stopped', async () => {
    const { url: DATABASE_URL, drop } = await createPostgresDatabase()
    onTestFinished(drop)
    const LET_GO = path.join(temporaryFolder(), 'let-go')
    const at = { cwd: temporaryFolder(), env: { DATABASE_URL, LET_GO } }
    const scheduler = start(['scheduler', '--config', split], at)
    expect(await scheduler.line(/^Escapement /)).toMatch(/ schedules and sweeps on PostgreSQL \(Ctrl\+C/)
    const worker = start(
      ['worker', '--config', split, '--queues', 'fast, slow', '--concurrency', '2', '--port', '0'],
      at,
    )
    const server = urlOf(await worker.line(/^Escapement \S+ works on PostgreSQL, http:/))
    await worker.line(new RegExp(`^beat in ${worker.child.pid} `))
    await worker.line(/^held$/)
    // Put by the scheduler, and not again by the worker; the queue that nobody asked for waits.
    expect(await scheduler.line(/schedules/)).toBeDefined()
    expect(scheduler.lines).toContain(`${split}: 3 schedules put`)
    expect(worker.lines.filter((line) => line.includes('put'))).toEqual([])
    const answers = await Promise.all(['/health', '/ready', '/metrics'].map((page) => fetch(server + page)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const [, , metrics] = await Promise.all(answers.map((answer) => answer.text()))
    expect(metrics).toMatch(/escapement_queue_depth\{[^}]*queue="default"[^}]*\} 1/)

    worker.child.kill('SIGINT')
    await worker.line(/^Stopping… waits for \d runs?; Ctrl\+C again ends it at once$/)
    expect((await fetch(`${server}/ready`)).status).toBe(503)
    fs.writeFileSync(LET_GO, '')
    expect(await worker.ended).toBe(0)
    expect(worker.lines).toContain('let go')
    expect(worker.lines.some((line) => /^✔ .* held /.test(line))).toBe(true)
    expect(await scheduler.kill('SIGTERM')).toBe(0)
    expect(scheduler.lines.filter((line) => /^(✔|beat|held)/.test(line))).toEqual([])
  })
})

/** A configuration that says `word`, from a file that it imports. */
const configOf = (schedules: string) => `import { defineConfig, defineJob, every, once } from 'escapement'
import fs from 'node:fs'
import { word } from './word.js'

const say = defineJob('say', { handler: () => console.log('says', word) })
const hold = defineJob('hold', {
  handler: async () => {
    console.log('holds', word)
    while (!fs.existsSync('let-go')) await new Promise((resolve) => setTimeout(resolve, 20))
    console.log('ends', word)
  },
})

export default defineConfig({
  jobs: [say, hold],
  schedules: {
    say: { job: say, timing: every('1 second') },
    ${schedules}
  },
})
`
const holding = `held: { job: hold, timing: once('2026-01-01T00:00:00Z') },`

describe('up --watch', () => {
  it('goes on with a changed configuration, and with the one before where it is wrong', async () => {
    const cwd = temporaryFolder()
    const file = (name: string) => path.join(cwd, name)
    const config = file('escapement.config.ts')
    /** As many editors do. */
    const writeByRename = (name: string, text: string) => {
      fs.writeFileSync(file(`${name}.tmp`), text)
      fs.renameSync(file(`${name}.tmp`), file(name))
    }
    /** What comes after now. */
    const next = (pattern: RegExp) => {
      const from = up.lines.length
      return up.line(pattern, from)
    }
    fs.writeFileSync(file('word.ts'), `export const word: string = 'one'`)
    fs.writeFileSync(config, configOf(holding))
    const up = start(['up', '--watch', '--port', '0', '--database', 'memory:'], { cwd })
    const server = urlOf(await up.line(/^Escapement /))
    await up.line(/^escapement\.config\.ts: 2 schedules put$/)
    await up.line(/^holds one$/)
    await up.line(/^says one$/)

    // A file that it imports, by rename: new code for new runs, the old for that which is in hand.
    writeByRename('word.ts', `export const word: string = 'two'`)
    await up.line(/^escapement\.config\.ts changed: 2 jobs$/)
    await up.line(/^says two$/)
    fs.writeFileSync(file('let-go'), '')
    await up.line(/^ends one$/)
    await up.line(/^✔ .* held /)

    fs.writeFileSync(config, configOf(`${holding} oh: {`))
    expect(await up.line(/^error: /)).toBe('error: escapement.config.ts:20:2: Unexpected token, expected ","')
    await up.line(/^escapement\.config\.ts is not used; the one before goes on\.$/)
    await next(/^says two$/)

    writeByRename('escapement.config.ts', configOf(`oh:\n      { job: 'sya', timing: every('1 day') },`))
    expect(await next(/^error: /)).toBe(
      `error: escapement.config.ts:19:9: schedules.oh.job: there is no job "sya" (did you mean "say"?). Known: say, hold, http.`,
    )
    await next(/^says two$/)

    // Mended, and several files at once.
    fs.writeFileSync(file('word.ts'), `export const word: string = 'three'`)
    fs.writeFileSync(config, configOf(`daily: { job: 'say', timing: every('1 day') },`))
    await up.line(/^escapement\.config\.ts changed: 2 jobs, 1 schedule put, 1 deleted$/)
    await up.line(/^says three$/)
    const after = up.lines.slice(up.lines.indexOf('says three'))
    expect(after.filter((line) => line === 'says two')).toEqual([])

    const read = async (page: string) => (await fetch(`${server}${page}`)).text()
    const { schedules } = JSON.parse(await read('/api/v1/schedules'))
    expect(schedules.map(({ name }: { name: string }) => name)).toEqual(['daily', 'say'])
    expect(JSON.parse(await read('/api/v1/audit'))).toMatchObject({ missing: [], double: [], unexpected: [] })
    const runs = JSON.parse(await read('/api/v1/runs?job=hold')).runs
    expect(runs).toMatchObject([{ state: 'succeeded', attempt: 1 }])
    expect(await read('/metrics')).toMatch(/escapement_pool_connections\{pool="embedded"/)
    expect(await up.kill('SIGTERM')).toBe(0)
    expect(up.lines.filter((line) => line.startsWith('error:'))).toHaveLength(2)
  })
})
