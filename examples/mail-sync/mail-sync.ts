/**
 * Mailboxes that are read again five minutes after the last reading has ended, however long it took. A mailbox that fails three
 * times in a row is left alone for an hour (the breaker); one whose owner has revoked access is not read at all (the gate).
 *
 *     npm run example:mail-sync
 *
 * Time is moved by hand here, so that three hours pass at once.
 */
import { after, EscapementError } from 'escapement'
import { createHarness } from 'escapement/testing'
import { z } from 'zod'

const h = await createHarness({
  database: process.env.DATABASE_URL ?? 'memory:',
  at: '2026-06-01T08:00:00Z',
})

/** The mail server is down from 08:30 to 09:30. */
const isDown = () => h.now() >= new Date('2026-06-01T08:30:00Z') && h.now() < new Date('2026-06-01T09:30:00Z')
const revoked = new Set(['carol'])

const syncMail = h.job('sync-mail', {
  input: z.object({ mailbox: z.string() }),
  retry: { attempts: 1 },
  gate: ({ input }) => !revoked.has(input.mailbox) || { reason: `${input.mailbox} has revoked access` },
  handler({ input, totals }) {
    if (isDown()) throw new Error('the mail server does not answer')
    totals({ read: 1 })
    return `read ${input.mailbox}`
  },
})

const told = (text: string) => console.log(`${h.now().toISOString().slice(11, 16)}  ${text}`)
h.escapement.on('run.failed', ({ schedule }) => told(`${schedule} failed`))
h.escapement.on('schedule.broken', ({ schedule }) => told(`${schedule} is broken`))
h.escapement.on('schedule.resumed', ({ schedule }) => told(`${schedule} is tried again`))

for (const mailbox of ['alice', 'carol']) {
  try {
    await h.schedules.put(`mail:${mailbox}`, {
      job: syncMail,
      input: { mailbox },
      timing: after('5 minutes'),
      breaker: { failures: 3, cooldown: '1 hour' },
    })
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    told(`mail:${mailbox} was refused, ${error.code}: ${error.message}`)
  }
}

await h.advance('150 minutes')

told('alice revokes access')
revoked.add('alice')
await h.advance('10 minutes')

const { state } = await h.schedules.get('mail:alice')
const { runs } = await h.runs.search({ schedule: 'mail:alice', limit: 100 })
const counts = count(runs.map((run) => run.state))
told(`mail:alice is ${state}: ${JSON.stringify(counts)}`)
await h.close()

function count(states: readonly string[]): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const each of [...states].sort()) counted[each] = (counted[each] ?? 0) + 1
  return counted
}
