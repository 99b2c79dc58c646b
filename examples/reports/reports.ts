/**
 * A report for each customer at nine in the morning of their own time zone, over the weekend on which Europe changes its
 * clocks. Schedules are rows: customers are added, moved and paused while everything runs.
 *
 *     npm run example:reports
 *
 * Time is moved by hand here, so that six days pass at once. An application calls `createEscapement` instead of
 * `createHarness`, and `start()` instead of `advance()`; the rest is the same.
 */
import { cron } from 'escapement'
import { createHarness } from 'escapement/testing'
import { z } from 'zod'

const customers = [
  { id: 'acme', zone: 'America/New_York' },
  { id: 'blick', zone: 'Europe/Zurich' },
  { id: 'chai', zone: 'Asia/Kolkata' },
]

const h = await createHarness({
  database: process.env.DATABASE_URL ?? 'memory:',
  at: '2026-03-27T00:00:00Z', // a Friday
})

const sendReport = h.job('send-report', {
  input: z.object({ customer: z.string(), zone: z.string() }),
  handler({ input, planTime, previousPlanTime }) {
    const local = new Intl.DateTimeFormat('en-GB', {
      timeZone: input.zone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
    }).format(planTime!)
    const hours = (planTime!.getTime() - previousPlanTime!.getTime()) / 3_600_000
    console.log(
      `${planTime!.toISOString()}  ${input.customer.padEnd(5)}  ${local}  covers the last ${hours} hours`,
    )
  },
})

/** The same for a new customer and for one who has moved: what has not changed is left alone. */
async function putReport({ id, zone }: (typeof customers)[number]): Promise<void> {
  await h.schedules.put(`report:${id}`, {
    job: sendReport,
    input: { customer: id, zone },
    timing: cron('0 9 * * MON-FRI', { zone }),
    group: 'reports',
    overlap: 'skip',
  })
}

for (const customer of customers) await putReport(customer)
await h.advance('4 days') // Friday to Monday

console.log('\nblick moves to Tokyo, and chai has not paid')
await putReport({ id: 'blick', zone: 'Asia/Tokyo' })
await h.schedules.pause('report:chai', { reason: 'has not paid', actor: 'accounting' })
await h.advance('2 days')

console.log('\nwhat became of every report of chai')
const ledger = await h.schedules.occurrences('report:chai', {
  from: '2026-03-27T00:00:00Z',
  to: '2026-04-02T00:00:00Z',
})
for (const { planTime, disposition, reason } of ledger) {
  console.log(`${planTime.toISOString()}  ${disposition}${reason ? `: ${reason}` : ''}`)
}
const { occurrences, missing, double, unexpected } = await h.escapement.audit()
const wrong = missing.length + double.length + unexpected.length
console.log(`\naudit of ${occurrences} occurrences: ${wrong} without exactly one answer`)
await h.close()
