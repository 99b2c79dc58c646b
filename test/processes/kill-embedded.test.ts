import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createEscapement, type Run } from '../../src/index.js'
import { type EscapementProcess, spawnEscapement } from '../support/escapement-process.js'

const config = fileURLToPath(new URL('fixtures/witnessed.config.ts', import.meta.url))
const ROUNDS = process.env.ESCAPEMENT_TEST_LONG ? 30 : 5
const SUCCEEDED = /^✔ (\S+ \S+)/

it(`loses nothing acknowledged and runs nothing twice through ${ROUNDS} SIGKILLs of "up" on its directory`, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-kill-'))
  const directory = path.join(folder, 'data')
  const env = { WITNESS: path.join(folder, 'witness'), TZ: 'UTC' }
  let current: EscapementProcess | undefined
  onTestFinished(() => {
    current?.child.kill('SIGKILL')
    fs.rmSync(folder, { recursive: true })
  })

  const acknowledged = new Map<string, string>()
  for (let round = 0; round < ROUNDS; round++) {
    current = spawnEscapement(['up', '--config', config, '--directory', directory, '--port', '0'], { env })
    await current.line(SUCCEEDED)
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 900))
    expect(await current.kill('SIGKILL')).toBe('SIGKILL')

    // Read while nobody works on it: a run that was lost and then decided again would look well later.
    const runs = await readRuns(directory)
    const byPlanTime = new Map(runs.map((run) => [run.planTime!.toISOString(), run]))
    expect(byPlanTime.size).toBe(runs.length)
    for (const line of current.lines) {
      const time = SUCCEEDED.exec(line)?.[1]
      if (time === undefined) continue
      const planTime = `${time.replace(' ', 'T')}.000Z`
      const run = byPlanTime.get(planTime)
      expect(run?.state, `${planTime} was printed as succeeded in round ${round}`).toBe('succeeded')
      acknowledged.set(planTime, run!.id)
    }
    for (const [planTime, id] of acknowledged) expect(byPlanTime.get(planTime)?.id).toBe(id)
  }

  const runs = await readRuns(directory)
  const times = runs.map((run) => run.planTime!.getTime()).sort((a, b) => a - b)
  const seconds = Array.from({ length: times.length }, (_, index) => times[0]! + index * 1000)
  expect(times, 'each second from the first to the last has one run').toEqual(seconds)
  expect(acknowledged.size).toBeGreaterThanOrEqual(ROUNDS)
})

async function readRuns(directory: string): Promise<Run[]> {
  const escapement = await createEscapement({ database: { directory } })
  try {
    return await escapement.runs.list({ schedule: 'every-second', limit: 10_000 })
  } finally {
    await escapement.close()
  }
}
