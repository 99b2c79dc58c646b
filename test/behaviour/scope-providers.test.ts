import { describe, expect, it, onTestFinished } from 'vitest'
import { assemble } from '../../src/escapement.js'
import { every, type ScopeProvider } from '../../src/index.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { sharedDatabase } from '../support/database.js'
import { useSchema } from '../support/schema.js'

const AT = '2026-03-01T09:30:00Z'
const hourly = { job: 'tenants', timing: every('1 hour') }

/** Processes on one database and one clock, each with its own provider. */
async function open() {
  const clock = createManualClock(Date.parse(AT))
  const schema = await useSchema()
  const database = await sharedDatabase()
  return {
    clock: { to: (time: string) => clock.set(Date.parse(time)) },
    async startProcess(scopes: ScopeProvider) {
      const { escapement, scheduler } = await assemble({ database, schema, clock })
      onTestFinished(() => escapement.close())
      escapement.job('tenants', { scopes, handler: () => {} })
      escapement.job('noop', { handler: () => {} })
      const ledger = async () =>
        (await escapement.schedules.occurrences('s', { from: AT, to: '2026-03-01T11:00:01Z' })).map(
          ({ planTime, scope, disposition, reason }) =>
            `${planTime.toISOString().slice(11, 16)} ${scope} ${reason ?? disposition}`,
        )
      const { schedules, runs, audit } = escapement
      return { schedules, runs, audit, scheduler, ledger }
    },
  }
}

/** A provider that answers when it is told to, with what is so when it is asked. */
function slowProvider(tenants: () => string[]) {
  const waiting: (() => void)[] = []
  let isSlow = true
  return {
    scopes: () => {
      const now = tenants()
      return isSlow ? new Promise<string[]>((resolve) => waiting.push(() => resolve(now))) : now
    },
    async answer() {
      isSlow = false
      for (const resolve of waiting) resolve()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

describe('an answer of a scope provider', () => {
  it('is not used for a later plan time, where another process decided the one that it was for', async () => {
    const { clock, startProcess } = await open()
    let tenants = ['a']
    const slow = slowProvider(() => tenants)
    const [one, other] = [await startProcess(slow.scopes), await startProcess(() => tenants)]
    await one.schedules.put('s', hourly)
    clock.to('2026-03-01T10:00:00Z')
    await one.scheduler.tickWhileDue()
    await other.scheduler.tick()
    await slow.answer()
    tenants = ['a', 'b']
    clock.to('2026-03-01T11:00:00Z')
    await one.scheduler.tick()
    expect(await one.ledger()).toEqual(['10:00 a run', '11:00 a run', '11:00 b run'])
  })

  it('is not used for a plan time that came due after the question, which has an answer of its own', async () => {
    const { clock, startProcess } = await open()
    let tenants = ['a']
    const slow = slowProvider(() => tenants)
    const { schedules, scheduler, ledger } = await startProcess(slow.scopes)
    await schedules.put('s', { ...hourly, catchUp: 'all' })
    clock.to('2026-03-01T10:00:00Z')
    await scheduler.tickWhileDue()
    await slow.answer()
    tenants = ['a', 'b']
    clock.to('2026-03-01T11:00:00Z')
    while ((await scheduler.tick()).due > 0);
    expect(await ledger()).toEqual(['10:00 a run', '11:00 a run', '11:00 b run'])
  })
})

describe('a scope provider that fails', () => {
  const failing = () => {
    throw new Error('no directory')
  }

  it('keeps nobody from pausing or deleting its schedules, alone or with their group', async () => {
    const { clock, startProcess } = await open()
    const { schedules, ledger, audit } = await startProcess(failing)
    for (const name of ['s', 'deleted', 'grouped']) await schedules.put(name, { ...hourly, group: name })
    await schedules.put('other', { ...hourly, job: 'noop', group: 'grouped' })
    clock.to('2026-03-01T10:00:10Z')
    expect((await schedules.pause('s')).state).toBe('paused')
    await schedules.delete('deleted')
    expect(await schedules.pauseGroup('grouped')).toBe(2)
    expect(await ledger()).toEqual(['10:00  no_scope', '11:00  paused'])
    expect(await audit()).toMatchObject({ missing: [], double: [], unexpected: [] })
  })

  it('keeps others from editing for a minute only, in which a scheduler may have more luck', async () => {
    const { clock, startProcess } = await open()
    const { schedules, ledger } = await startProcess(failing)
    await schedules.put('s', hourly)
    const withScopes = { ...hourly, scopes: ['a'] }
    clock.to('2026-03-01T10:00:59Z')
    await expect(schedules.put('s', withScopes)).rejects.toMatchObject({ code: 'provider_failed' })
    clock.to('2026-03-01T10:01:00Z')
    expect((await schedules.put('s', withScopes)).scopes).toEqual(['a'])
    expect(await ledger()).toEqual(['10:00  no_scope', '11:00 a upcoming'])
  })
})

describe('a scope provider that does not answer', () => {
  it('holds up neither the ticks nor other schedules when a pause ends, which ends at its time later on', async () => {
    const { clock, startProcess } = await open()
    const slow = slowProvider(() => ['a'])
    const { schedules, runs, scheduler, ledger } = await startProcess(slow.scopes)
    await schedules.put('s', hourly)
    await schedules.put('other', { ...hourly, job: 'noop' })
    await schedules.pause('s', { until: '2026-03-01T10:30:00Z' })
    clock.to('2026-03-01T10:30:00Z')
    await scheduler.tickWhileDue()
    expect(await runs.list({ schedule: 'other' })).toHaveLength(1)
    expect((await schedules.get('s')).state).toBe('paused')
    await slow.answer()
    await scheduler.tickWhileDue()
    expect(await schedules.get('s')).toMatchObject({
      state: 'active',
      nextAt: new Date('2026-03-01T11:00:00Z'),
    })
    expect(await ledger()).toEqual(['10:00 a paused', '11:00  upcoming'])
  })

  it('is not asked by a verb that decides nothing', async () => {
    const { startProcess } = await open()
    const asked: Date[] = []
    const { schedules } = await startProcess(({ now }) => {
      asked.push(now)
      return ['a']
    })
    await schedules.put('s', hourly)
    await schedules.patch('s', { priority: 1 })
    await schedules.pause('s')
    await schedules.resume('s')
    expect(asked).toEqual([])
  })
})
