import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type AnyEvent,
  createEscapement,
  type Escapement,
  type EscapementOptions,
  every,
  type MissedEvents,
  once,
} from '../../src/index.js'
import type { Database } from '../../src/store/database.js'
import { alteredDatabase, postgresUrl, sharedDatabase } from '../support/database.js'
import { useSchema } from '../support/schema.js'

/** Escapements on one schema: what processes are to each other. */
async function openSystem() {
  const schema = await useSchema()
  const open = async (options: EscapementOptions = {}) => {
    const escapement = await createEscapement({ database: await sharedDatabase(), schema, ...options })
    onTestFinished(() => escapement.close())
    escapement.job('noop', { handler: () => {} })
    return escapement
  }
  return { schema, channel: `escapement-events:${schema}`, open }
}

/** Everything that is heard, and what was missed. */
async function hear(escapement: Escapement) {
  const heard: AnyEvent[] = []
  const missed: MissedEvents[] = []
  const stop = await escapement.onAny(
    (told) => heard.push(told),
    (what) => missed.push(what),
  )
  return { heard, missed, stop, names: () => heard.map(({ name, isLocal }) => `${name} ${isLocal}`) }
}

/** The messages of all processes as they are. */
async function overhear(channel: string) {
  const messages: string[] = []
  onTestFinished(await (await sharedDatabase()).listen(channel, (payload) => void messages.push(payload)))
  return messages
}

/** Nothing of it comes due while a test runs: a pause settles what has, and that is an event too. */
const yearly = { job: 'noop', timing: every('1 year') }

describe('events across processes', () => {
  it('are heard by others as from elsewhere, and once by who did it, without any loop', async () => {
    const { open, channel } = await openSystem()
    const [a, b, c] = [await open(), await open(), await open()]
    const [atA, atB] = [await hear(a), await hear(b)]
    await hear(c)
    const own: string[] = []
    b.on('schedule.changed', ({ schedule }) => own.push(schedule))
    const messages = await overhear(channel)

    const { id } = await a.schedules.put('greetings', yearly)
    await expect.poll(atB.names).toEqual(['schedule.changed false'])
    expect(atB.heard[0]!.event).toEqual({ scheduleId: id, schedule: 'greetings', version: 1 })
    expect(atA.names()).toEqual(['schedule.changed true'])
    await b.schedules.pause('greetings')
    await expect.poll(atA.names).toEqual(['schedule.changed true', 'schedule.paused false'])
    expect(atB.names()).toEqual(['schedule.changed false', 'schedule.paused true'])
    // Nobody sends on what it heard, and `on` is for what the process itself does.
    expect(messages).toHaveLength(2)
    expect(own).toEqual([])
  })

  it('give dates as dates', async () => {
    const { open } = await openSystem()
    const [a, b] = [await open(), await open()]
    const { heard } = await hear(b)
    await a.schedules.put('s', { job: 'noop', timing: once('2026-03-01T00:00:00Z') })
    await a.start({ roles: ['scheduler', 'worker'] })
    await expect.poll(() => heard.map(({ name }) => name)).toContain('run.succeeded')
    const { event } = heard.find(({ name }) => name === 'run.created')!
    expect(event).toMatchObject({ schedule: 's', planTime: new Date('2026-03-01T00:00:00Z') })
  })

  it('are told in one small message in a flood, with the count of those that it has no room for', async () => {
    const { open, channel } = await openSystem()
    const [a, b] = [await open(), await open()]
    const atB = await hear(b)
    const messages = await overhear(channel)
    const items = Array.from({ length: 5_000 }, (_, n) => ({ input: { n } }))
    await a.runs.enqueueMany('noop', items)
    await a.claiming.pause({ reason: '€'.repeat(2_000) })
    await expect.poll(() => atB.heard.at(-1)?.name).toBe('claiming.paused')
    await expect.poll(() => atB.missed.length).toBeGreaterThan(0)
    const created = atB.heard.filter(({ name }) => name === 'run.created').length
    expect(created).toBeGreaterThan(20)
    expect(atB.missed[0]).toEqual({ reason: 'dropped', dropped: { 'run.created': 5_000 - created } })
    expect(messages.length).toBeLessThanOrEqual(2)
    for (const message of messages) expect(Buffer.byteLength(message)).toBeLessThan(7_900)
  })

  it('are sent by a process that does one thing and closes', async () => {
    const { open } = await openSystem()
    const [a, b] = [await open(), await open()]
    const { names } = await hear(b)
    await a.claiming.pause()
    await a.close()
    await expect.poll(names).toEqual(['claiming.paused false'])
  })

  it('are sent only while a process listens, and it is heard at once', async () => {
    const { open, channel } = await openSystem()
    let attempts = 0
    const query: Database['query'] = async (text, params) => {
      const rows = await (await sharedDatabase()).query<never>(text, params)
      if (text.includes('pg_try_advisory_xact_lock')) attempts += 1
      return rows
    }
    const a = await open({ database: await alteredDatabase(() => ({ query })) })
    const b = await open({ database: postgresUrl() })
    // Hears what is sent, and counts for nobody.
    const witness = new pg.Client({ connectionString: postgresUrl() })
    await witness.connect()
    onTestFinished(() => witness.end())
    await witness.query(`listen "${channel}"`)
    const sent: string[] = []
    witness.on('notification', ({ payload }) => sent.push(payload!))

    await a.claiming.pause()
    await expect.poll(() => attempts).toBe(1)
    const atB = await hear(b)
    await a.claiming.resume()
    await expect.poll(atB.names).toEqual(['claiming.resumed false'])
    await atB.stop()
    await a.claiming.pause()
    await expect.poll(() => attempts).toBe(3)
    await hear(b)
    await a.claiming.resume()
    await expect.poll(() => sent.length).toBe(2)
    expect(sent.every((message) => message.includes('claiming.resumed'))).toBe(true)
  })

  it('are listened to while somebody listens', async () => {
    const { open, channel } = await openSystem()
    const listening: string[] = []
    const database = await alteredDatabase((shared) => ({
      async listen(name, listener) {
        const stop = await shared.listen(name, listener)
        listening.push(name)
        return async () => {
          listening.splice(listening.indexOf(name), 1)
          await stop()
        }
      },
    }))
    const a = await open({ database })
    expect(listening).toEqual([])
    const [one, two] = await Promise.all([hear(a), hear(a)])
    expect(listening).toEqual([channel])
    await one.stop()
    await one.stop()
    expect(listening).toEqual([channel])
    await two.stop()
    expect(listening).toEqual([])
    const again = await hear(a)
    const b = await open()
    await b.claiming.pause()
    await expect.poll(again.names).toEqual(['claiming.paused false'])
    expect(one.names()).toEqual([])
    await a.close()
    expect(listening).toEqual([])
    await expect(hear(a)).rejects.toMatchObject({ code: 'closed' })
  })

  it('that could not be sent are counted in the next message, and that is said once', async () => {
    const { open } = await openSystem()
    let isAway = true
    let attempts = 0
    const query: Database['query'] = async (text, params) => {
      if (!text.includes('pg_try_advisory_xact_lock')) return (await sharedDatabase()).query(text, params)
      attempts += 1
      if (isAway) throw new Error('away')
      return (await sharedDatabase()).query(text, params)
    }
    const warned: string[] = []
    const logger = {
      debug() {},
      info() {},
      error() {},
      warn: (_: object, message: string) => void warned.push(message),
    }
    const a = await open({ database: await alteredDatabase(() => ({ query })), logger })
    const b = await open()
    const atB = await hear(b)
    for (let n = 1; n <= 3; n++) {
      await a.claiming.pause()
      await a.claiming.resume()
      await expect.poll(() => attempts).toBeGreaterThanOrEqual(n)
    }
    isAway = false
    await a.claiming.pause()
    const missed = () => atB.missed.flatMap(({ dropped }) => Object.values(dropped))
    const sum = () => missed().reduce((all, count) => all + count, atB.heard.length)
    await expect.poll(sum, { timeout: 5_000 }).toBe(7)
    expect(missed().length).toBeGreaterThan(0)
    expect(warned).toEqual(['other processes are not told of events for now'])
  })

  it('may be missed while the connection is lost, and that is told', async () => {
    const { open, channel } = await openSystem()
    const a = await open({ database: postgresUrl() })
    const { heard, missed } = await hear(a)
    const ended = await a.database.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where starts_with(query, $1)',
      [`listen "${channel}"`],
    )
    expect(ended).toHaveLength(1)
    await expect.poll(() => missed, { timeout: 5_000 }).toEqual([{ reason: 'disconnected', dropped: {} }])
    const b = await open()
    await b.claiming.pause()
    await expect.poll(() => heard.map(({ name }) => name)).toEqual(['claiming.paused'])
  })

  it('are no other text that comes over the same channel', async () => {
    const { open, channel } = await openSystem()
    const a = await open()
    const { heard, missed } = await hear(a)
    for (const text of [
      'rubbish',
      '{"origin":"x"}',
      '{"origin":"x","dropped":{},"events":[["claiming.resumed",{"by":"x"}]]}',
    ]) {
      await a.database.query('select pg_notify($1, $2)', [channel, text])
    }
    await expect.poll(() => heard).toEqual([{ name: 'claiming.resumed', event: { by: 'x' }, isLocal: false }])
    expect(missed).toEqual([])
  })
})
