/**
 * A worker for what other languages ask for by SQL: enqueue.sql and enqueue.py beside this file.
 *
 *     npm run example:other-languages
 *
 * Here the script is executed by this program, so that it needs neither psql nor a server; time is moved by hand.
 */
import { readFileSync } from 'node:fs'
import { createHarness } from 'escapement/testing'
import { z } from 'zod'

const h = await createHarness({
  database: process.env.DATABASE_URL ?? 'memory:',
  at: new Date(),
})
const order = z.object({ order: z.number() })

h.job('send-invoice', {
  input: order,
  handler: ({ input, run }) => console.log(`invoice for order ${input.order}, key ${run.key}`),
})
h.job('send-welcome', {
  input: z.object({ customer: z.string() }),
  handler: ({ input }) => console.log(`welcome to ${input.customer}`),
})
h.job('send-reminder', {
  input: order,
  handler: ({ input }) => console.log(`reminder for order ${input.order}`),
})

const script = readFileSync(new URL('enqueue.sql', import.meta.url), 'utf8')
await h.escapement.database.query('drop schema if exists shop cascade')
await h.escapement.database.transaction((tx) => tx.script(script))

console.log('today:')
await h.advance('1 hour')
console.log('tomorrow:')
await h.advance('1 day')

await h.escapement.database.query('drop schema shop cascade')
await h.close()
