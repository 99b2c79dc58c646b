import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readDirectoryLock } from '../../src/store/directory-lock.js'
import { openPGlite } from '../../src/store/pglite.js'
import { type FixtureOptions, FixtureProcess } from '../support/child-process.js'
import { emptyDatabase } from '../support/empty-database.js'

// Every case starts processes that start an engine; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const fixture = fileURLToPath(new URL('./embedded-fixture.ts', import.meta.url))
const syncLogger = fileURLToPath(new URL('./log-syncs.cjs', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'escapement-test-'))
const processes: FixtureProcess[] = []
let directories = 0

beforeAll(async () => {
  const database = await openPGlite({ directory: join(scratch, 'seed'), template: await emptyDatabase() })
  await database.close()
})

afterAll(async () => {
  await Promise.all(processes.map((each) => each.kill()))
  rmSync(scratch, { recursive: true, force: true })
})

/** With an empty database in it; creating one each time would take seconds. */
function freshDirectory(): string {
  directories += 1
  const directory = join(scratch, String(directories))
  cpSync(join(scratch, 'seed'), directory, { recursive: true })
  return directory
}

function start(task: string, directory: string, options?: FixtureOptions): FixtureProcess {
  const started = new FixtureProcess(fixture, [task, directory], options)
  processes.push(started)
  return started
}

async function withSyncLog(task: string, env: Record<string, string> = {}): Promise<FixtureProcess> {
  const directory = freshDirectory()
  const log = `${directory}.syncs`
  writeFileSync(log, '')
  const started = start(task, directory, {
    env: { ...env, SYNC_LOG: log },
    nodeOptions: ['--require', syncLogger],
  })
  expect(await started.exitCode()).toBe(0)
  return started
}

describe('a directory in use', () => {
  it('is refused to a second process in one line that names the owner', async () => {
    const directory = freshDirectory()
    const owner = start('hold', directory)
    const { opened: pid } = await owner.line('opened')
    const second = start('hold', directory)
    const { refused, message } = await second.line('refused')
    expect(refused).toBe('directory_in_use')
    expect(message).toBe(
      `${directory} is in use by process ${pid}. Talk to that one, stop it, or choose another directory.`,
    )
    expect(await second.exitCode()).toBe(1)
    expect(await readDirectoryLock(directory)).toMatchObject({ pid, url: null })
    await owner.kill()
  })

  it('is free again the moment its owner is killed', async () => {
    const directory = freshDirectory()
    const owner = start('hold', directory)
    await owner.line('opened')
    await owner.kill()
    expect(readdirSync(directory)).toContain('lock.sock')
    expect(await readDirectoryLock(directory)).toBeNull()
    const next = start('hold', directory)
    expect(await next.line('opened')).toBeTruthy()
    await next.kill()
  })

  it('is won by exactly one of ten that start at once on what a killed process left', async () => {
    const directory = freshDirectory()
    const owner = start('hold', directory)
    await owner.line('opened')
    await owner.kill()
    const rivals = Array.from({ length: 10 }, () => start('hold', directory))
    const outcomes = await Promise.all(
      rivals.map((rival) => Promise.race([rival.line('opened'), rival.line('refused')])),
    )
    expect(outcomes.filter((outcome) => 'opened' in outcome)).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome.refused === 'directory_in_use')).toHaveLength(9)
    await Promise.all(rivals.map((rival) => rival.kill()))
  })

  it('has one owner at a time, however many die right after taking it', async () => {
    const directory = join(scratch, 'contended')
    mkdirSync(directory)
    const rivals = Array.from({ length: 16 }, () => start('take-and-die', directory))
    await Promise.all(rivals.map((rival) => rival.exitCode()))
    for (const { lines, stderr } of rivals) {
      const [first] = lines
      expect(stderr).toBe('')
      expect(lines).toHaveLength(1)
      expect('taken' in first! || first!.refused === 'directory_in_use').toBe(true)
    }
    expect(rivals.filter(({ lines }) => 'taken' in lines[0]!).length).toBeGreaterThan(0)
  })

  it('that this user cannot write is refused in one line', async () => {
    const directory = join(scratch, 'read-only')
    mkdirSync(directory)
    chmodSync(directory, 0o555)
    chmodSync(scratch, 0o755)
    const { refused, message } = await start('unprivileged', directory).line('refused')
    expect(refused).toBe('directory_unusable')
    expect(message).toBe(
      `${directory} cannot be written by this user. Change its permissions, or choose another directory.`,
    )
  })
})

describe('durability', () => {
  it('syncs each commit once before it is acknowledged, a whole transaction once, and reading never', async () => {
    const { lines } = await withSyncLog('count-syncs')
    expect(lines.at(-1)).toEqual({ single: Array(50).fill(1), together: 1, reading: 0 })
  })

  it.each([
    ['a sync fails', 'broken'],
    ['the disk is full', 'full'],
  ])(
    'acknowledges nothing more once %s, and opens again with what it had acknowledged',
    async (_, problem) => {
      const { lines } = await withSyncLog('break-disk', { BREAK: problem })
      expect(lines).toContainEqual({ refusals: ['database_unusable', 'database_unusable'] })
      expect(lines.at(-1)).toMatchObject({ rows: expect.arrayContaining([{ id: 1 }]) })
    },
  )

  it('loses nothing acknowledged when killed in the middle of writing, again and again', async () => {
    const directory = freshDirectory()
    let acknowledged = 0
    for (let round = 0; round < 5; round += 1) {
      const writer = start('write', directory)
      const enough = acknowledged + 100 + 70 * round
      while (acknowledged < enough) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        acknowledged = Number(writer.lines.at(-1)?.acknowledged ?? acknowledged)
        expect(writer.stderr).toBe('')
      }
      await writer.kill()
      acknowledged = Number(writer.lines.at(-1)?.acknowledged)

      const checker = start('check', directory)
      const { count, last } = await checker.line('count')
      // The one under way may have been committed without having been acknowledged.
      expect([acknowledged, acknowledged + 1]).toContain(last)
      expect(count).toBe(last)
      await checker.exitCode()
      acknowledged = Number(last)
    }
  })

  it('needs no close: a process that forgets it ends by itself, and what it wrote is there', async () => {
    const directory = freshDirectory()
    const forgetful = start('forget', directory)
    expect(await forgetful.exitCode()).toBe(0)
    const reader = start('count-forgotten', directory)
    expect(await reader.line('rows')).toEqual({ rows: [{ id: 1 }] })
  })

  it('begins anew after a process was killed while it created the database', async () => {
    const directory = join(scratch, 'interrupted')
    const creator = start('create', directory)
    while (!readdirSyncOrNone(join(directory, 'data')).includes('PG_VERSION')) {
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await creator.kill()
    expect(readdirSync(directory)).toContain('data.incomplete')
    const next = start('create', directory)
    expect(await next.exitCode()).toBe(0)
    expect(readdirSync(directory)).not.toContain('data.incomplete')
  })
})

function readdirSyncOrNone(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
