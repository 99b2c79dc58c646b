import { expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { linesOf, openPlace } from '../support/moving.js'

const blockedOn = (schema: string) =>
  `select count(*) as count from pg_locks as l join pg_class as c on c.oid = l.relation
   join pg_namespace as n on n.oid = c.relnamespace where n.nspname = '${schema}' and not l.granted`

it('waits for a transaction that has changed something, and carries what it did', async () => {
  const h = await openPlace()
  h.job('work', { handler: () => null })
  const { database } = h.escapement
  let lines: Promise<string[]> | undefined
  await database.transaction(async (tx) => {
    await h.runs.enqueue('work', 'of an open transaction', { tx })
    lines = linesOf(h.escapement.export({ mode: 'move' }))
    await expect.poll(() => database.query(blockedOn(h.schema)), { interval: 5 }).not.toEqual([{ count: 0 }])
  })
  expect((await lines!).join('')).toContain('of an open transaction')
})

it('gives up when it does not end, and then nothing was moved', async () => {
  const h = await openPlace()
  h.job('work', { handler: () => null })
  await h.escapement.database.transaction(async (tx) => {
    await h.runs.enqueue('work', null, { tx })
    await expect(linesOf(h.escapement.export({ mode: 'move', wait: '0.6s' }))).rejects.toMatchObject({
      code: 'database_busy',
      message: expect.stringContaining('a transaction that has changed something here is still open'),
    })
  })
  expect(await h.escapement.moved()).toBeNull()
  await h.advance('0s')
  expect((await h.runs.search({})).runs).toMatchObject([{ state: 'succeeded' }])
})

it('refuses who waited for the locks while it read, and everything that comes later', async () => {
  const h = await openPlace()
  h.job('work', { handler: () => null })
  await h.schedules.put('one', { job: 'work', timing: every('1 minute') })
  const { database } = h.escapement
  const lines = h.escapement.export({ mode: 'move' })
  await lines.next()
  // Each of them has begun before the commit, and goes on after it.
  const waiting = [
    h.runs.enqueue('work', null),
    h.schedules.pause('one'),
    h.advance('1 minute'),
    database.query(`select "${h.schema}".enqueue('work')`),
  ].map((each) => each.catch((error) => error.code))
  await expect.poll(() => database.query(blockedOn(h.schema)), { interval: 5 }).toEqual([{ count: 4 }])
  const rest = await linesOf(lines)
  expect(await Promise.all(waiting)).toEqual(['moved', 'moved', 'moved', 'MV001'])
  expect(JSON.parse(rest.at(-1)!).end.rows).toMatchObject({ schedules: 1, runs_asked: 0 })
})

it('of two who move at once both get the same export', async () => {
  const h = await openPlace()
  h.job('work', { handler: () => null })
  await h.schedules.put('one', { job: 'work', timing: every('1 minute') })
  const [first, second] = await Promise.all([1, 2].map(() => linesOf(h.escapement.export({ mode: 'move' }))))
  expect(first).toEqual(second)
})

it('is not taken back while somebody reads, and says so', async () => {
  const h = await openPlace()
  const { database } = h.escapement
  await linesOf(h.escapement.export({ mode: 'move' }))
  await database.transaction(async (tx) => {
    await tx.query(`select from "${h.schema}".schedules`)
    await expect(h.escapement.undoMove()).rejects.toMatchObject({
      code: 'database_busy',
      message: expect.stringContaining('a transaction that reads or writes here is still open'),
    })
  })
  expect(await h.escapement.undoMove()).toBe(true)
})
