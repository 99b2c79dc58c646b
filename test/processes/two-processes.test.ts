import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createEscapement } from '../../src/index.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'
import { spawnEscapement } from '../support/escapement-process.js'

const config = fileURLToPath(new URL('fixtures/witnessed.config.ts', import.meta.url))
const SECONDS = process.env.ESCAPEMENT_TEST_LONG ? 60 : 5

it(`runs each of ${SECONDS} seconds once with two processes that start at the same instant on an empty database`, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-two-'))
  const schema = freshSchemaName()
  const database = postgresUrl()
  const WITNESS = path.join(folder, 'witness')
  // Far enough ahead that both are up by then, also on a busy machine.
  const startAt = Math.ceil(Date.now() / 1000) * 1000 + 15_000
  const env = {
    WITNESS,
    START_AT: new Date(startAt).toISOString(),
    END_AT: new Date(startAt + SECONDS * 1000).toISOString(),
  }
  const args = ['up', '--config', config, '--schema', schema, '--port', '0', '--database', database]
  const processes = [spawnEscapement(args, { env }), spawnEscapement(args, { env })]
  const escapement = await createEscapement({ database, schema })
  onTestFinished(async () => {
    for (const { child } of processes) child.kill('SIGKILL')
    await escapement.database.query(`drop schema "${schema}" cascade`)
    await escapement.close()
    fs.rmSync(folder, { recursive: true })
  })
  await Promise.all(processes.map((process) => process.line(/^Escapement .* on PostgreSQL/)))

  await expect
    .poll(async () => (await escapement.schedules.get('every-second')).state, {
      timeout: (SECONDS + 30) * 1000,
      interval: 250,
    })
    .toBe('finished')
  const range = { from: env.START_AT, to: env.END_AT }
  const dispositions = async () =>
    (await escapement.schedules.occurrences('every-second', range)).map(
      ({ planTime, runState, reason }) => `${planTime.toISOString()} ${runState ?? reason}`,
    )
  const expected = Array.from({ length: SECONDS }, (_, second) => startAt + second * 1000)
  await expect
    .poll(dispositions, { timeout: 20_000, interval: 100 })
    .toEqual(expected.map((at) => `${new Date(at).toISOString()} succeeded`))
  for (const process of processes) expect(await process.kill('SIGTERM')).toBe(0)

  const runs = await escapement.runs.list({ schedule: 'every-second', limit: 1000 })
  expect(runs.map((run) => run.planTime!.getTime()).reverse()).toEqual(expected)
  expect(new Set(runs.map((run) => run.state))).toEqual(new Set(['succeeded']))
  const lines = witnessed(WITNESS)
  expect(lines.map(({ planTime }) => planTime).sort()).toEqual(
    expected.map((at) => new Date(at).toISOString()),
  )
  const migrations = await escapement.database.query(`select number from "${schema}".migrations`)
  expect(new Set(migrations.map(({ number }) => number)).size).toBe(migrations.length)
  const changes = await escapement.schedules.changes('every-second')
  expect(changes.map(({ action }) => action)).toEqual(['finish', 'sync'])
})

function witnessed(file: string) {
  if (!fs.existsSync(file)) return []
  const lines = fs.readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [pid, runId, planTime] = line.split(' ')
    return { pid, runId, planTime }
  })
}
