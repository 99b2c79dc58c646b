import { describe, expect, it, onTestFinished } from 'vitest'
import { every } from '../../src/index.js'
import { sharedDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

/** The payloads heard on a schema's channel. */
async function hear(schema: string) {
  const heard: string[] = []
  const stop = await (await sharedDatabase()).listen(`escapement:${schema}`, (payload) => heard.push(payload))
  onTestFinished(stop)
  return heard
}

describe('notifications', () => {
  it('tell schedulers of a put, and workers of new runs, once for a batch', async () => {
    const h = await openHarness({ at: '2026-03-01T00:00:00Z' })
    h.job('noop', { handler: () => {} })
    const heard = await hear(h.schema)
    for (const name of ['a', 'b', 'c'])
      await h.schedules.put(name, { job: 'noop', timing: every('1 minute') })
    await expect.poll(() => heard).toEqual(['schedules', 'schedules', 'schedules'])
    heard.length = 0
    await h.advance('0s')
    await expect.poll(() => heard).toEqual(['runs'])
  })
})
