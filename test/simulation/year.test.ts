/** A simulated year of 200 mostly daily schedules. SIMULATION_DAYS lengthens it; `npm test` plays one day of ten of them. */
import { expect, it } from 'vitest'
import { cron, every } from '../../src/index.js'
import { openEngineHere } from '../../src/store/pglite-here.js'
import { simulateOn } from '../../src/testing/simulate.js'
import { emptyDatabase } from '../support/empty-database.js'

const DAYS = Number(process.env.SIMULATION_DAYS ?? 1)
const SCHEDULES = DAYS > 1 ? 200 : 10
const ZONES = ['UTC', 'Europe/Paris', 'America/New_York', 'Asia/Tokyo', 'Australia/Sydney']

it(`plays ${DAYS} day(s) of ${SCHEDULES} schedules`, { timeout: 7_200_000 }, async () => {
  const engine = await openEngineHere(await (await emptyDatabase()).arrayBuffer())
  const report = await simulateOn(engine, {
    seed: 2026,
    during: { days: DAYS },
    faults: { crash: 0.0001, connection: 0.0005, delay: 0.0005, freeze: 0.0001, restart: 0.0001 },
    verbs: false,
    options: { scheduler: { retention: false }, worker: { concurrency: 100 } },
    define(escapement, host) {
      escapement.job('daily', {
        handler() {
          if (host.chance() < 0.01) throw new Error('bad luck')
        },
      })
    },
    async arrange({ schedules }) {
      for (let index = 0; index < SCHEDULES; index++) {
        const zone = ZONES[index % ZONES.length]!
        const timing =
          index % 50 === 0
            ? every('6 hours')
            : cron(`0 ${Math.floor(index / ZONES.length) % 24} * * *`, { zone })
        await schedules.put(`schedule-${index}`, { job: 'daily', timing, catchUp: 'all' })
      }
    },
  })
  await engine.close()
  expect(report.schedules).toBe(SCHEDULES)
  // Each has one a day, and some have more; days on which a clock changes may have one less at the ends.
  expect(report.occurrences).toBeGreaterThanOrEqual((DAYS - 1) * SCHEDULES)
  expect(report.runs).toBe(report.occurrences)
})
