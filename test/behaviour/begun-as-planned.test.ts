import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { running } from '../support/running.js'

const CLEAN = { missing: [], double: [], unexpected: [] }
const AHEAD = 'record occurrences planned ahead'
const secondly = { job: 'noop', timing: every('1 second') }
const isClaim = (purpose: string) => purpose.startsWith('claim')
const patient = { timeout: 20_000 }

/** Settled from outside. */
function latch() {
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

type Running = Awaited<ReturnType<typeof running>>

/** Until its worker has found that nothing waits. */
async function atRest({ escapement, purposes }: Running): Promise<void> {
  await escapement.start()
  await expect.poll(() => purposes.includes('next run'), patient).toBe(true)
}

describe('what is planned in the process of a worker that is at rest', () => {
  it('begins without being claimed, as it would otherwise', async () => {
    const parts = await running()
    const { escapement, purposes } = parts
    const begun: { planTime: Date; previousPlanTime: Date | null; attempt: number; state: string }[] = []
    escapement.job('report', {
      handler: ({ input, planTime, previousPlanTime, attempt, run, schedule }) => {
        begun.push({ planTime: planTime!, previousPlanTime, attempt, state: run.state })
        return { input, schedule }
      },
    })
    await atRest(parts)
    purposes.length = 0
    await escapement.schedules.put('reports', {
      job: 'report',
      input: { for: 'acme' },
      timing: every('1 second'),
    })
    await expect.poll(() => begun.length, patient).toBeGreaterThanOrEqual(3)
    await escapement.stop()
    expect(purposes).toContain(AHEAD)
    expect(purposes.filter(isClaim)).toEqual([])
    for (const { planTime, previousPlanTime, attempt, state } of begun) {
      expect({ previous: previousPlanTime, attempt, state }).toEqual({
        previous: new Date(planTime.getTime() - 1_000),
        attempt: 1,
        state: 'running',
      })
    }
    const { runs } = await escapement.runs.search({ job: 'report', state: 'succeeded' })
    expect(runs).toHaveLength(begun.length)
    for (const run of runs) {
      expect(run).toMatchObject({
        attempt: 1,
        trigger: 'scheduled',
        result: { input: { for: 'acme' }, schedule: 'reports' },
      })
      expect(run.startedAt!.getTime()).toBeGreaterThanOrEqual(run.planTime!.getTime())
    }
    expect(await escapement.audit()).toMatchObject(CLEAN)
  })

  it('waits while claiming is paused, and then begins', async () => {
    const parts = await running()
    const { escapement, created } = parts
    await atRest(parts)
    await escapement.claiming.pause({ reason: 'maintenance' })
    await escapement.schedules.put('secondly', secondly)
    await expect.poll(() => created.length, patient).toBeGreaterThanOrEqual(2)
    expect((await escapement.runs.search({ state: 'pending' })).runs.length).toBeGreaterThanOrEqual(2)
    expect((await escapement.runs.search({ state: 'succeeded' })).runs).toEqual([])
    await escapement.claiming.resume()
    await expect
      .poll(async () => (await escapement.runs.search({ state: 'succeeded' })).runs.length, patient)
      .toBeGreaterThanOrEqual(2)
  })

  it('is counted where its job has a limit: it stands in line', async () => {
    const parts = await running()
    const { escapement, purposes } = parts
    const ended: string[] = []
    escapement.job('limited', { concurrency: 1, handler: ({ run }) => void ended.push(run.id) })
    await atRest(parts)
    purposes.length = 0
    await escapement.schedules.put('limited', { job: 'limited', timing: every('1 second') })
    await expect.poll(() => ended.length, patient).toBeGreaterThanOrEqual(2)
    expect(purposes.some(isClaim)).toBe(true)
  })

  it('takes no more places than there are, and whoever stood in line comes first', async () => {
    const parts = await running({ worker: { concurrency: 2 } })
    const { escapement, created } = parts
    const gate = latch()
    const begun: string[] = []
    let atOnce = 0
    let most = 0
    escapement.job('held', {
      handler: async ({ schedule }) => {
        begun.push(schedule ?? 'direct')
        atOnce += 1
        most = Math.max(most, atOnce)
        await gate.opened
        atOnce -= 1
      },
    })
    await atRest(parts)
    const held = { job: 'held', timing: every('1 second') }
    await escapement.schedules.sync({ a: held, b: held, c: held })
    await expect.poll(() => begun.length, patient).toBe(2)
    await escapement.runs.enqueue('held', null, { priority: 1 })
    const before = created.length
    await expect.poll(() => created.length, patient).toBeGreaterThan(before + 3)
    expect(begun).toHaveLength(2)
    for (const name of ['a', 'b', 'c']) await escapement.schedules.pause(name)
    gate.open()
    await expect.poll(() => begun.length, patient).toBe(created.length)
    expect(begun[2]).toBe('direct')
    expect(most).toBe(2)
  })

  it('is given back where it is not known whether it was recorded, and no attempt is spent', async () => {
    let lost = 1
    const parts = await running(
      {},
      {
        answered(purpose) {
          if (purpose === AHEAD && lost-- > 0) throw new Error('Connection terminated unexpectedly')
        },
      },
    )
    const { escapement } = parts
    const attempts: number[] = []
    escapement.job('counted', { handler: ({ attempt }) => void attempts.push(attempt) })
    await atRest(parts)
    await escapement.schedules.put('counted', { job: 'counted', timing: every('1 second') })
    await expect.poll(() => attempts.length, patient).toBeGreaterThanOrEqual(3)
    expect(lost).toBeLessThan(0)
    expect(new Set(attempts)).toEqual(new Set([1]))
    expect(await escapement.audit()).toMatchObject(CLEAN)
    await escapement.stop()
    expect((await escapement.runs.search({ state: 'succeeded' })).runs).toHaveLength(attempts.length)
  })

  it('is given back again where that failed too, however it is told to end, and begins soon', async () => {
    let [lost, unreleased] = [1, 1]
    const parts = await running(
      {},
      {
        refuse(_, text) {
          if (text.includes('as released') && unreleased-- > 0)
            throw new Error('Connection terminated unexpectedly')
        },
        answered(purpose) {
          if (purpose === AHEAD && lost-- > 0) throw new Error('Connection terminated unexpectedly')
        },
      },
    )
    const { escapement } = parts
    const late: number[] = []
    escapement.job('once', {
      retry: { attempts: 1 },
      onStale: 'fail',
      handler: ({ planTime }) => void late.push(Date.now() - planTime!.getTime()),
    })
    await atRest(parts)
    await escapement.schedules.put('once', { job: 'once', timing: every('1 second') })
    await expect.poll(() => late.length, patient).toBeGreaterThanOrEqual(3)
    expect(unreleased).toBeLessThan(1)
    // It was left to no poll, which comes every five seconds.
    expect(Math.max(...late)).toBeLessThan(4_500)
    expect((await escapement.runs.search({ state: 'failed' })).runs).toEqual([])
  })

  it('leaves the places to a claim that is under way', async () => {
    const parts = await running(
      { worker: { concurrency: 1 } },
      { answered: async (purpose) => void (isClaim(purpose) && (await sleep(200))) },
    )
    const { escapement } = parts
    let atOnce = 0
    let most = 0
    const begun: string[] = []
    escapement.job('long', {
      handler: async ({ schedule }) => {
        begun.push(schedule ?? 'direct')
        atOnce += 1
        most = Math.max(most, atOnce)
        await sleep(100)
        atOnce -= 1
      },
    })
    await atRest(parts)
    const at = (Math.ceil(Date.now() / 1_000) + 1) * 1_000
    await escapement.runs.enqueue('long', null, { at: new Date(at - 20) })
    await escapement.schedules.put('long', { job: 'long', timing: every('1 second'), startAt: new Date(at) })
    await expect.poll(() => begun.length, patient).toBeGreaterThanOrEqual(2)
    expect(most).toBe(1)
  })

  it('begins by priority', async () => {
    const parts = await running()
    const { escapement } = parts
    const begun: number[] = []
    escapement.job('ranked', { handler: ({ run }) => void begun.push(run.priority) })
    await atRest(parts)
    const priorities = [3, -1, 9, 0, 5]
    const startAt = new Date(Date.now() + 1_500)
    await escapement.schedules.sync(
      Object.fromEntries(
        priorities.map((priority) => [
          `p${priority}`,
          { job: 'ranked', priority, timing: every('1 year', { anchor: startAt }), startAt },
        ]),
      ),
    )
    await expect.poll(() => begun, patient).toEqual([9, 5, 3, 0, -1])
  })

  it('stands behind what waits, also where a queue has had its share', async () => {
    const parts = await running(
      { worker: { concurrency: 4, queues: ['a', 'b'] } },
      { answered: async (purpose) => void (isClaim(purpose) && (await sleep(60))) },
    )
    const { escapement } = parts
    const begun: string[] = []
    escapement.job('flood', { handler: ({ schedule }) => void begun.push(schedule ?? 'direct') })
    await atRest(parts)
    await escapement.schedules.put('low', {
      job: 'flood',
      queue: 'a',
      priority: -5,
      timing: every('1 second'),
    })
    const items = Array.from({ length: 60 }, () => ({ input: null, queue: 'a', priority: 5 }))
    const before = begun.length
    await escapement.runs.enqueueMany('flood', items)
    const ofFlood = () => begun.slice(before).filter((name) => name === 'direct').length
    await expect.poll(ofFlood, patient).toBe(60)
    const since = begun.slice(before)
    // One may have been recorded before the flood was.
    const between = since.slice(1, since.lastIndexOf('direct')).filter((name) => name !== 'direct')
    expect(between).toEqual([])
  })

  it('is given back by a worker that was stopped meanwhile', async () => {
    const [recorded, stopped] = [latch(), latch()]
    const parts = await running(
      {},
      {
        async answered(purpose) {
          if (purpose !== AHEAD) return
          recorded.open()
          await stopped.opened
        },
      },
    )
    const { escapement } = parts
    await atRest(parts)
    await escapement.schedules.put('secondly', secondly)
    await recorded.opened
    expect((await escapement.runs.search({ state: 'running' })).runs).toHaveLength(1)
    const stop = escapement.stop()
    stopped.open()
    await stop
    const { runs } = await escapement.runs.search()
    // One that was due before it could be planned ahead has been claimed.
    const unfinished = runs.filter(({ state }) => state !== 'succeeded')
    expect(unfinished).toMatchObject([{ state: 'pending', attempt: 0, workerId: null }])
  })
})
