/** What schedules are searched by is kept beside them by triggers: whatever changes a schedule, both say the same. */
import { expect, it } from 'vitest'
import { every, once } from '../../src/index.js'
import { openHarness } from '../support/harness.js'
import { linesOf } from '../support/moving.js'

const AT = '2026-03-01T12:00:00Z'
const hourly = { job: 'noop', timing: every('1 hour') }

async function open() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  h.job('failing', {
    retry: { attempts: 1 },
    handler: () => {
      throw new Error('no')
    },
  })
  const { database } = h.escapement
  /** By name, what is searched by; it throws where that is not what the schedules say. */
  const rows = async () => {
    const differing = await database.query(
      `select coalesce(s.name, w.name) as name from "${h.schema}".schedules as s
       full join "${h.schema}".schedule_words as w on w.schedule_id = s.id
       where (w.name, w.job, w."group", w.source, w.words) is distinct from
         (s.name, s.job, s."group", s.source, "${h.schema}".words_of(s.name, s.job, s."group", s.description))`,
    )
    expect(differing).toEqual([])
    const found = await database.query<{ name: string; words: string }>(
      `select name, array_to_string(tsvector_to_array(words), ' ') as words from "${h.schema}".schedule_words order by name`,
    )
    return found.map(({ name, words }) => `${name}: ${words}`)
  }
  return { h, rows }
}

it('words follow every verb, and what happens by itself', async () => {
  const { h, rows } = await open()
  await h.schedules.put('a:1', { ...hourly, description: "ünder Way, with the boss's (own) letters" })
  await h.schedules.sync(
    { b: { ...hourly, group: 'G' }, c: { job: 'noop', timing: once('2026-03-01T12:30:00Z') } },
    { source: 'code' },
  )
  await h.schedules.put('d', { job: 'failing', timing: every('1 minute'), breaker: { failures: 1 } })
  expect(await rows()).toEqual([
    'a:1: 1 a boss letters noop own s the way with ünder',
    'b: b g noop',
    'c: c noop',
    'd: d failing',
  ])
  await h.advance('1 hour')
  // Each by itself: a trigger that does not look at one of them would be found out.
  for (const fields of [{ description: null }, { job: 'failing' }, { group: 'other' }, { group: null }]) {
    await h.schedules.patch('a:1', fields)
    await rows()
  }
  await h.escapement.database.query(`update "${h.schema}".schedules set source = 'other' where name = 'a:1'`)
  await rows()
  await h.schedules.pause('b')
  expect(await rows()).toEqual(['a:1: 1 a failing', 'b: b g noop', 'c: c noop', 'd: d failing'])
  await h.schedules.rename('a:1', 'z')
  await h.schedules.sync({ b: { ...hourly, group: 'H' } }, { source: 'code' })
  await h.schedules.resume('d')
  await h.schedules.delete('d')
  await h.schedules.put('d', hourly)
  const inTheEnd = await rows()
  expect(inTheEnd).toContain('z: failing z')
  expect(inTheEnd).toContain('d: d noop')
  expect(inTheEnd.find((row) => row.startsWith('b:'))).toMatch(/: b h noop$/)
})

it('words come with an import', async () => {
  const { h, rows } = await open()
  const there = await open()
  await h.schedules.put('a', { ...hourly, group: 'many words' })
  await there.h.escapement.import(await linesOf(h.escapement.export()))
  expect(await there.rows()).toEqual(await rows())
  expect((await there.h.schedules.search({ q: 'word' })).schedules).toMatchObject([{ name: 'a' }])
})
