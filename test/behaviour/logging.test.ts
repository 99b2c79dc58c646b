import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

/** A harness that logs by a pino of the program, and what that has written. */
async function open() {
  const records: Record<string, unknown>[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      records.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const logger = pino({ level: 'debug', base: null }, stream)
  const h = await openHarness({ at: '2026-03-01T12:00:30Z', logger })
  return { h, records }
}

it('handlers log with what their run is about, also of a direct run, which is about less', async () => {
  const { h, records } = await open()
  h.job('speaks', { handler: ({ log, input }) => log.debug({ input }, 'said') })
  await h.schedules.put('s', { job: 'speaks', timing: every('1 minute'), scopes: ['north'], input: 1 })
  const { id } = await h.runs.enqueue('speaks', 2)
  await h.advance('30 seconds')
  const [run] = await h.runs.list({ schedule: 's' })
  const said = { level: 20, time: expect.any(Number), msg: 'said', job: 'speaks', attempt: 1 }
  expect(records).toEqual([
    { ...said, input: 2, runId: id },
    {
      ...said,
      input: 1,
      runId: run!.id,
      schedule: 's',
      scope: 'north',
      planTime: '2026-03-01T12:01:00.000Z',
    },
  ])
})

it('errors come with their type, message and stack', async () => {
  const { h, records } = await open()
  h.job('noop', { handler: () => {} })
  h.escapement.on('run.succeeded', () => {
    throw new TypeError('on purpose')
  })
  await h.runs.enqueue('noop', null)
  await h.advance('0s')
  expect(records).toEqual([
    {
      level: 50,
      time: expect.any(Number),
      msg: 'an event listener threw',
      event: 'run.succeeded',
      err: { type: 'TypeError', message: 'on purpose', stack: expect.stringContaining('logging.test.ts') },
    },
  ])
})
