import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createHttpClient } from '../../src/http-client/index.js'
import { type AuditReport, createEscapement } from '../../src/index.js'
import { openDatabase } from '../../src/store/open.js'
import { createPostgresDatabase } from '../support/database.js'
import { type EscapementProcess, spawnEscapement } from '../support/escapement-process.js'

const config = fileURLToPath(new URL('fixtures/moving.config.ts', import.meta.url))
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

it('a busy embedded scheduler moves to a server and back: nothing is lost and nothing is doubled', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-move-'))
  const { url, drop } = await createPostgresDatabase()
  const processes: EscapementProcess[] = []
  onTestFinished(async () => {
    for (const { child } of processes) child.kill('SIGKILL')
    await drop()
    fs.rmSync(folder, { recursive: true, force: true })
  })
  const directory = path.join(folder, 'data')
  const file = path.join(folder, 'everything.ndjson.gz')
  const env = { WITNESS: path.join(folder, 'witness'), TZ: 'UTC' }
  const start = (args: string[]) => {
    const started = spawnEscapement(args, { cwd: folder, env })
    processes.push(started)
    return started
  }
  const run = async (args: string[]) => {
    const { ended, lines } = start(args)
    return { status: await ended, text: lines.join('\n') }
  }
  const witnessed = () => readWitness(env.WITNESS)
  /** Lets `up` work until it has witnessed so many more. */
  const work = async (where: string[], more = 45) => {
    const before = witnessed().length
    const up = start(['up', '--config', config, '--port', '0', '--log-level', 'error', ...where])
    await expect.poll(() => witnessed().length - before, { timeout: 60_000 }).toBeGreaterThan(more)
    return up
  }

  const embedded = await work(['--directory', directory])
  const moved = await run(['export', '--move', '-o', file, '--directory', directory])
  expect(moved).toMatchObject({
    status: 0,
    text: expect.stringMatching(/^✔ Moved 200 schedules and \d+ runs to /),
  })
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  const atTheCut = witnessed().length
  await embedded.line(/moved away at .* This process does nothing any more: stop it\./)
  // Whoever asks it is still answered.
  const api = createHttpClient({ url: /http:\S+/.exec(await embedded.line(/^Escapement /))![0] })
  expect(mistakesIn(await api.audit())).toEqual({ schedules: 200, mistakes: 0 })
  expect(await embedded.kill('SIGTERM')).toBe(0)
  expect(witnessed()).toHaveLength(atTheCut)

  await killImport(fs.readFileSync(file), url)
  expect(await run(['import', file, '--database', url])).toMatchObject({
    status: 0,
    text: expect.stringMatching(/^✔ Imported 200 schedules/),
  })
  const server = await work(['--database', url])
  // Back again while it works, without a file in between.
  expect(await moveByPipe(url, directory)).toBe(0)
  await server.line(/This process does nothing any more/)
  expect(await server.kill('SIGTERM')).toBe(0)
  const source = await createEscapement({ database: url, migrate: false })
  expect(await source.moved()).not.toBeNull()
  expect(mistakesIn(await source.audit())).toEqual({ schedules: 200, mistakes: 0 })
  await source.close()

  const back = await createEscapement({ database: { directory } })
  const before = witnessed().length
  back.job('witness', {
    handler: ({ run, planTime, input }) =>
      fs.appendFileSync(env.WITNESS, `${run.id} ${input} ${planTime!.toISOString()}\n`),
  })
  await back.start()
  await expect.poll(() => witnessed().length - before, { timeout: 60_000 }).toBeGreaterThan(45)
  await back.stop()
  expect(mistakesIn(await back.audit())).toEqual({ schedules: 200, mistakes: 0 })
  await back.close()
  expect(gapsIn(witnessed())).toEqual([])
})

interface Witnessed {
  schedule: string
  planTime: number
}

function readWitness(file: string): Witnessed[] {
  const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  return lines.map((line) => {
    const [, schedule, planTime] = line.split(' ') as [string, string, string]
    return { schedule, planTime: Date.parse(planTime) }
  })
}

/** Where the plan times of a schedule are not one after the other, each once, from its first to its last. */
function gapsIn(witnessed: readonly Witnessed[]): string[] {
  const bySchedule = new Map<string, number[]>()
  const wrong: string[] = []
  for (const { schedule, planTime } of witnessed) {
    bySchedule.set(schedule, [...(bySchedule.get(schedule) ?? []), planTime])
  }
  expect(bySchedule.size).toBe(50)
  for (const [schedule, found] of bySchedule) {
    const step = Number(schedule.slice(2)) < 20 ? 1_000 : 5_000
    const times = found.sort((a, b) => a - b)
    for (const [index, time] of times.entries()) {
      if (index > 0 && time - times[index - 1]! !== step)
        wrong.push(`${schedule} ${new Date(time).toISOString()}`)
    }
  }
  return wrong
}

function mistakesIn(report: Pick<AuditReport, 'schedules' | 'missing' | 'double' | 'unexpected'>) {
  const { schedules, missing, double, unexpected } = report
  return { schedules, mistakes: missing.length + double.length + unexpected.length }
}

/** An import that has half of the file, and is killed while it waits for the rest. */
async function killImport(bytes: Buffer, url: string): Promise<void> {
  const child = spawn(process.execPath, [main, 'import', '-', '--database', url], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = once(child, 'close')
  const { outer, inner } = await openDatabase(url)
  child.stdin.write(bytes.subarray(0, bytes.length >> 1))
  const hasBegun = () =>
    outer.query(`select from pg_locks where locktype = 'relation' and mode = 'AccessExclusiveLock' and granted
      and relation = to_regclass('escapement.schedules')`)
  await expect.poll(hasBegun, { timeout: 30_000 }).toHaveLength(1)
  child.kill('SIGKILL')
  await ended
  expect(await outer.query('select from escapement.schedules')).toEqual([])
  await inner.close()
  await outer.close()
}

/** `escapement export … | escapement import …`, as one types it: how the worse of them ended. */
async function moveByPipe(url: string, directory: string): Promise<number> {
  const line = `set -o pipefail; "$NODE" "$MAIN" export --move -o - --database "$URL" | "$NODE" "$MAIN" import - --directory "$TO"`
  const env = { ...process.env, NODE: process.execPath, MAIN: main, URL: url, TO: directory }
  const [code] = await once(spawn('bash', ['-c', line], { env, stdio: 'ignore' }), 'close')
  return code
}
