import { describe, expect, it, onTestFinished } from 'vitest'
import { createEscapement, every } from '../../src/index.js'
import type { EventHubOptions } from '../../src/server/event-hub.js'
import { sharedDatabase } from '../support/database.js'
import { EventSourceReader } from '../support/event-source.js'
import { openWorld } from './world.js'

async function open(events: EventHubOptions = {}) {
  const { escapement, handler, schema, ask, token } = await openWorld({ auth: 'local', events })
  const get = (query = '', headers: Record<string, string> = {}, method = 'GET') =>
    ask(`${method} /api/v1/events${query}`, { headers })
  /** A reader that has read its greeting. */
  const read = async (query?: string, headers?: Record<string, string>) => {
    const reader = new EventSourceReader(await get(query, headers))
    return { reader, greeting: (await reader.next())! }
  }
  /** Another process on the same schema. */
  const openOther = async () => {
    const other = await createEscapement({ database: await sharedDatabase(), schema })
    onTestFinished(() => other.close())
    other.job('work', { handler: () => {} })
    return other
  }
  return { escapement, handler, get, read, openOther, token }
}

const yearly = { job: 'work', timing: every('1 year') }

describe('GET /api/v1/events', () => {
  it('tells what this process and others do, each in its order, with ids that increase', async () => {
    const { escapement, read, openOther } = await open()
    const other = await openOther()
    const { reader } = await read()
    const { id } = await escapement.runs.enqueue('work', {})
    await other.start({ roles: ['worker'] })
    const seen = await reader.untilNamed('run.succeeded')
    expect(seen.map(({ name }) => name)).toEqual(['run.created', 'run.started', 'run.succeeded'])
    expect(seen.map(({ data }) => data!.runId)).toEqual([id, id, id])
    const sequences = seen.map((event) => Number(event.id!.split('-')[1]))
    expect(sequences).toEqual([1, 2, 3])
  })

  it('goes on after Last-Event-ID', async () => {
    const { escapement, read } = await open()
    const { reader, greeting } = await read()
    await reader.cancel()
    await escapement.claiming.pause({ reason: 'lunch' })
    const again = await read('', { 'last-event-id': greeting.id! })
    expect(again.greeting).toEqual(greeting)
    expect(await again.reader.next()).toMatchObject({ name: 'claiming.paused', data: { reason: 'lunch' } })
    const lost = await read('', { 'last-event-id': 'of some other server' })
    expect(lost.greeting).toMatchObject({ name: 'resync', data: { reason: 'unknown_id' } })
  })

  it('has a resync where another process had more to tell than it could', async () => {
    const { read, openOther } = await open()
    const other = await openOther()
    const { reader } = await read()
    await other.runs.enqueueMany(
      'work',
      Array.from({ length: 1_000 }, () => ({ input: {} })),
    )
    const seen = await reader.untilNamed('resync')
    expect(seen.at(-1)!.data).toEqual({ reason: 'dropped' })
    expect(seen.length).toBeGreaterThan(20)
  })

  it('tells only the names that are asked for, and refuses those that there are none of', async () => {
    const { escapement, get, read } = await open()
    const { reader } = await read('?names=claiming.resumed,schedule.paused')
    await escapement.claiming.pause()
    await escapement.claiming.resume()
    expect((await reader.next())!.name).toBe('claiming.resumed')
    const refused = await get('?names=run.failed,run.suceeded')
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({
      code: 'request_invalid',
      mistakes: [{ field: 'names[1]' }],
    })
  })

  it('tells of the schedules of a group alone, also after they are gone', async () => {
    const { escapement, read, openOther } = await open()
    const other = await openOther()
    const { reader } = await read('?group=acme')
    await other.schedules.put('ours', { ...yearly, group: 'acme' })
    await other.schedules.put('theirs', { ...yearly, group: 'umbrella' })
    await other.schedules.put('nobodys', yearly)
    await escapement.claiming.pause()
    await escapement.schedules.trigger('theirs')
    const runId = await escapement.schedules.trigger('ours')
    await other.schedules.delete('theirs')
    await other.schedules.delete('ours')
    const seen = await reader.untilNamed('schedule.deleted')
    expect(seen.map(({ name, data }) => `${name} ${data!.schedule}`).sort()).toEqual([
      'run.created ours',
      'schedule.changed ours',
      'schedule.deleted ours',
    ])
    expect(seen.find(({ name }) => name === 'run.created')!.data!.runId).toBe(runId)
  })

  it('tells a token of a group nothing else, whatever it asks for', async () => {
    const { escapement, get, read, token } = await open({ heartbeat: '1s' })
    const headers = { authorization: `Bearer ${await token('viewer', 'acme')}` }
    const { reader } = await read('', headers)
    const { reader: nosy } = await read('?group=umbrella', headers)
    await escapement.schedules.put('theirs', { ...yearly, group: 'umbrella' })
    await escapement.schedules.put('ours', { ...yearly, group: 'acme' })
    expect(await reader.next()).toMatchObject({ name: 'schedule.changed', data: { schedule: 'ours' } })
    // What it is given next is that the stream is alive.
    expect(await nosy.next()).toMatchObject({ id: expect.stringMatching(/-2$/), name: undefined })
    expect((await get('', { authorization: 'Bearer none' })).status).toBe(401)
  })

  it('has a resync for a group where a schedule went without a trace', async () => {
    const { escapement, read } = await open()
    await escapement.schedules.put('theirs', { ...yearly, group: 'umbrella' })
    const { reader } = await read('?group=acme')
    await escapement.schedules.delete('theirs', { runs: 'delete' })
    expect((await reader.next())!.name).toBe('resync')
  })

  it('answers 503 where there are readers enough, and a HEAD takes no place', async () => {
    const { get, read } = await open({ readers: 1 })
    expect((await get('', {}, 'HEAD')).headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const { reader } = await read()
    const refused = await get()
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ code: 'too_many_readers' })
    await reader.cancel()
    await read()
  })

  it('shows that it is alive', async () => {
    const { read } = await open({ heartbeat: '1s' })
    const { reader, greeting } = await read()
    expect(await reader.next()).toEqual(greeting)
  })

  it('ends when the handler is closed', async () => {
    const { handler, read } = await open()
    const { reader } = await read()
    await handler.close()
    expect(await reader.next()).toBeUndefined()
  })
})
