/**
 * Invoices that are written exactly once. The job is `transactional`: what it writes through `tx` is committed together
 * with the success of its run, or not at all, whatever fails in between, and however often it is tried again.
 *
 *     npm run example:billing
 *
 * Time is moved by hand here, so that two months pass at once.
 */
import { cron } from 'escapement'
import { createHarness } from 'escapement/testing'

const h = await createHarness({
  database: process.env.DATABASE_URL ?? 'memory:',
  at: '2026-01-31T12:00:00Z',
})
const { database } = h.escapement

await database.query('create schema billing')
await database.query('create table billing.accounts (customer text primary key, owed integer not null)')
// No unique key protects this table: it is the run that happens once.
await database.query(`create table billing.invoices (
  number integer generated always as identity, customer text not null, month date not null, amount integer not null
)`)
await database.query(`insert into billing.accounts values ('acme', 0), ('blick', 0), ('chai', 0)`)

let attempts = 0

const invoice = h.job('invoice', {
  transactional: true,
  retry: { attempts: 5, backoff: ['1 minute'] },
  // One run for each customer and month.
  scopes: async () => {
    const rows = await database.query<{ customer: string }>('select customer from billing.accounts')
    return rows.map(({ customer }) => customer)
  },
  async handler({ tx, scope, previousPlanTime, attempt }) {
    attempts += 1
    const month = previousPlanTime!.toISOString().slice(0, 10)
    await tx.query('insert into billing.invoices (customer, month, amount) values ($1, $2, 30)', [
      scope,
      month,
    ])
    await tx.query('update billing.accounts set owed = owed + 30 where customer = $1', [scope])
    // Both rows are written, and then something breaks, the first time.
    if (attempt === 1) throw new Error('the machine caught fire')
  },
})

await h.schedules.put('invoices', { job: invoice, timing: cron('0 0 1 * *') })
await h.advance('60 days')

const { runs } = await h.runs.search({ state: 'succeeded' })
console.log(`${attempts} attempts, ${runs.length} runs succeeded`)

const invoices = await database.query<{ customer: string; month: string; amount: number }>(
  `select customer, to_char(month, 'YYYY-MM') as month, amount from billing.invoices order by customer, month`,
)
for (const { customer, month, amount } of invoices) console.log(`${customer.padEnd(5)}  ${month}  ${amount}`)
const [total] = await database.query<{ owed: number }>(
  'select sum(owed)::integer as owed from billing.accounts',
)
console.log(`owed in all: ${total!.owed}`)

await database.query('drop schema billing cascade')
await h.close()
