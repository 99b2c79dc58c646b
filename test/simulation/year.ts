import { cron, every } from '../../src/index.js'
import type { SimulationOptions } from '../../src/testing/index.js'

const ZONES = ['UTC', 'Europe/Paris', 'America/New_York', 'Asia/Tokyo', 'Australia/Sydney']

/** Mostly daily schedules over zones and hours, in calm weather: a fault now and then. */
export function calmDays({ days, schedules: count }: { days: number; schedules: number }): SimulationOptions {
  return {
    seed: 2026,
    during: { days },
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
      for (let index = 0; index < count; index++) {
        const zone = ZONES[index % ZONES.length]!
        const timing =
          index % 50 === 0
            ? every('6 hours')
            : cron(`0 ${Math.floor(index / ZONES.length) % 24} * * *`, { zone })
        await schedules.put(`schedule-${index}`, { job: 'daily', timing, catchUp: 'all' })
      }
    },
  }
}
