import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { DUE, planned } from '../support/ahead.js'
import { postgresUrl } from '../support/database.js'

const names = Array.from({ length: 200 }, (_, n) => `s${n}`)

it('schedulers that have planned the same record each occurrence once, and the losers are silent', async () => {
  const { h, ahead, open, fireAt } = await planned({}, { names })
  const all = [ahead, ...(await Promise.all([open(), open(), open()]))]
  const batches = (await Promise.all(all.map((one) => fireAt(DUE, one)))).flat()
  await h.advance('0s')
  for (const name of names) expect(await h.planTimes(name)).toEqual([DUE])
  expect(batches.reduce((sum, [, runs]) => sum + runs, 0)).toBe(names.length)
  expect(await h.escapement.audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
})

it('what somebody has locked is passed over, and nobody waits for it', async () => {
  const { h, fireAt } = await planned({}, { names: ['a', 'b', 'c'] })
  const client = new pg.Client({ connectionString: postgresUrl() })
  await client.connect()
  onTestFinished(() => client.end())
  const { id } = await h.schedules.get('b')
  await client.query('begin')
  await client.query(`select from "${h.schema}".cursors where schedule_id = $1 for update`, [id])
  expect(await fireAt(DUE)).toEqual([[2, 2]])
  await client.query('rollback')
  await h.advance('0s')
  for (const name of ['a', 'b', 'c']) expect(await h.planTimes(name)).toEqual([DUE])
})
