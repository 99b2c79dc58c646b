import { expect, it, vi } from 'vitest'
import { cron } from '../../src/index.js'
import type { Database } from '../../src/store/database.js'
import { compileTiming } from '../../src/time/timing.js'
import { openHarness } from '../support/harness.js'
import { processWithZoneData } from '../support/process-with-zone-data.js'

it('where a limit ends is counted before anything is locked: for a creation, an edit and a set', async () => {
  const h = await openHarness({ at: '2026-03-01T09:30:00Z' })
  const { database } = h.escapement
  let isLocking = false
  const transaction: Database['transaction'] = (work) =>
    database.transaction(async (tx) => {
      isLocking = true
      return work(tx).finally(() => {
        isLocking = false
      })
    })
  const escapement = { ...h.escapement, database: { ...database, transaction } }
  const { schedules } = processWithZoneData({ ...h, escapement })
  const timing = cron('*/2 * * * *', { zone: 'Europe/Paris' })
  const limited = { job: 'noop', timing, limit: 20_000 }
  let [computed, whileLocking] = [0, 0]
  const compiled = compileTiming(timing)
  const { next } = compiled
  vi.spyOn(compiled, 'next').mockImplementation((after) => {
    computed += 1
    if (isLocking) whileLocking += 1
    return next(after)
  })
  await schedules.put('s', limited)
  h.jump('1 day')
  await schedules.patch('s', { limit: 30_000 })
  await schedules.sync({ a: { ...limited, limit: 10_000 }, b: { ...limited, limit: 15_000 } })
  await schedules.pauseGroup('none')
  expect(computed).toBeGreaterThan(75_000)
  expect(whileLocking).toBeLessThan(1_000)
})
