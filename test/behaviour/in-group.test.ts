import { describe, expect, it } from 'vitest'
import { EscapementError, every, type GroupAccess, type Runs, type Schedules } from '../../src/index.js'
import { alteredDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'
const NEXT = '2026-03-01T12:10:00Z'
const minutely = { job: 'noop', timing: every('1 minute') }

/** Three schedules with a failed run and an open one each: in the group, in another, and in none. */
async function open(options: Partial<Parameters<typeof openHarness>[0]> = {}) {
  const h = await openHarness({ at: AT, ...options })
  h.job('noop', { handler: () => {} })
  h.job('gated', { gate: () => ({ reason: 'too early' }), handler: () => {} })
  const failing = h.job('failing', {
    retry: { attempts: 1 },
    handler: () => {
      throw new Error('no')
    },
  })
  const runs: Record<string, { failed: string; open: string }> = {}
  const groups = { own: 'mine', foreign: 'theirs', loose: undefined }
  for (const [name, group] of Object.entries(groups)) {
    await h.schedules.put(name, { ...minutely, job: failing, ...(group && { group }) })
    runs[name] = { failed: await h.schedules.trigger(name), open: '' }
  }
  await h.advance('1 second')
  await h.escapement.claiming.pause()
  for (const name of Object.keys(groups)) runs[name]!.open = await h.schedules.trigger(name)
  const mine = h.escapement.inGroup('mine')
  /** All about a schedule that a verb could change. */
  const look = async (name: string) => ({
    schedule: await h.schedules.get(name),
    changes: await h.schedules.changes(name),
    runs: await h.runs.list({ schedule: name }),
    preview: await h.schedules.preview(name),
  })
  return { h, mine, look, runs }
}

async function refusal(work: Promise<unknown>): Promise<EscapementError> {
  const error = await work.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  )
  if (error instanceof EscapementError) return error
  throw error
}

const ONE: { [Verb in keyof Schedules]?: (schedules: Schedules, name: string) => Promise<unknown> } = {
  get: (schedules, name) => schedules.get(name),
  patch: (schedules, name) => schedules.patch(name, { priority: 7 }),
  pause: (schedules, name) => schedules.pause(name),
  resume: (schedules, name) => schedules.resume(name),
  skip: (schedules, name) => schedules.skip(name, NEXT),
  unskip: (schedules, name) => schedules.unskip(name, NEXT),
  trigger: (schedules, name) => schedules.trigger(name, { input: 5 }),
  triggerRun: (schedules, name) => schedules.triggerRun(name, { input: 5 }),
  backfill: (schedules, name) => schedules.backfill(name, { from: AT, to: NEXT }),
  rename: (schedules, name) => schedules.rename(name, `${name}-2`),
  delete: (schedules, name) => schedules.delete(name, { runs: 'delete' }),
  preview: (schedules, name) => schedules.preview(name),
  diff: (schedules, name) => schedules.diff(name, { priority: 7 }),
  occurrences: (schedules, name) => schedules.occurrences(name, { from: AT, to: NEXT }),
  timeline: (schedules, name) => schedules.timeline(name),
  history: (schedules, name) => schedules.history(name),
  changes: (schedules, name) => schedules.changes(name),
}

const ONE_RUN: {
  [Verb in keyof Runs]?: (runs: Runs, ids: { failed: string; open: string }) => Promise<unknown>
} = {
  get: (runs, { failed }) => runs.get(failed),
  details: (runs, { failed }) => runs.details(failed),
  attempts: (runs, { failed }) => runs.attempts(failed),
  cancel: (runs, ids) => runs.cancel(ids.open),
  retry: (runs, { failed }) => runs.retry(failed),
}

describe('access to one group', () => {
  it('has a rule here for every verb', async () => {
    const { mine } = await open()
    const others = [
      'put',
      'list',
      'search',
      'planned',
      'pauseAll',
      'resumeAll',
      'pauseGroup',
      'resumeGroup',
      'sync',
    ]
    expect(Object.keys(mine.schedules).sort()).toEqual([...Object.keys(ONE), ...others].sort())
    const otherRuns = ['list', 'search', 'retryAll', 'enqueue', 'enqueueMany']
    expect(Object.keys(mine.runs).sort()).toEqual([...Object.keys(ONE_RUN), ...otherRuns].sort())
  })

  it('knows schedules of the group only, and tells no others from none', async () => {
    const { h, mine, look } = await open()
    const before = { foreign: await look('foreign'), loose: await look('loose') }
    for (const [verb, call] of Object.entries(ONE)) {
      for (const name of ['foreign', 'loose']) {
        const { code, message } = await refusal(call(mine.schedules, name))
        const { message: ofNone } = await refusal(call(mine.schedules, 'nobody'))
        expect(code, verb).toBe('schedule_not_found')
        expect(message, verb).toBe(ofNone.replace('nobody', name))
        expect((await refusal(call(mine.schedules, `${name}s`))).message).not.toContain('did you mean')
      }
      await h.schedules.put(`${verb}-1`, { ...minutely, group: 'mine' })
      expect((await refusal(call(mine.schedules, `${verb}-1s`))).message).toContain(
        `did you mean "${verb}-1"`,
      )
      await call(mine.schedules, `${verb}-1`)
    }
    expect({ foreign: await look('foreign'), loose: await look('loose') }).toEqual(before)
  })

  it('takes a schedule that is gated or whose input is checked for none, before it asks the code', async () => {
    const { h, mine } = await open()
    await h.schedules.put('gated', { ...minutely, job: 'gated', group: 'theirs', paused: true })
    expect((await refusal(mine.schedules.resume('gated'))).code).toBe('schedule_not_found')
    const put = mine.schedules.put('gated', { ...minutely, job: 'gated' })
    const putNew = mine.schedules.put('gated-2', { ...minutely, job: 'gated' })
    const refusals = await Promise.all([refusal(put), refusal(putNew)])
    expect(refusals.map(({ code }) => code)).toEqual(['gate_closed', 'gate_closed'])
  })

  it('puts into the group, and nowhere else', async () => {
    const { mine, look } = await open()
    expect(await mine.schedules.put('new', minutely)).toMatchObject({ group: 'mine' })
    expect(await mine.schedules.put('new', { ...minutely, group: 'mine', priority: 3 })).toMatchObject({
      priority: 3,
    })
    const elsewhere = await refusal(
      mine.schedules.put('new', { ...minutely, group: 'theirs', priority: 0.5 }),
    )
    expect(elsewhere.code).toBe('schedule_invalid')
    expect(elsewhere.message).toContain('priority: 0.5')
    expect(elsewhere.message).toContain('group: "theirs" – must be "mine"')
    for (const name of ['foreign', 'loose']) {
      const before = await look(name)
      for (const options of [{}, { expectedVersion: 0 }]) {
        const taken = await refusal(mine.schedules.put(name, minutely, options))
        expect([taken.code, taken.message]).toEqual([
          'schedule_exists',
          `name: "${name}" is taken; choose another`,
        ])
      }
      const gone = await refusal(mine.schedules.put(name, minutely, { expectedVersion: 1 }))
      const ofNone = await refusal(mine.schedules.put('nobody', minutely, { expectedVersion: 1 }))
      expect(gone.message).toBe(ofNone.message.replace('nobody', name))
      expect(await look(name)).toEqual(before)
    }
  })

  it('does not move a schedule out of the group, or take a name that is in use', async () => {
    const { h, mine } = await open()
    for (const group of ['theirs', null]) {
      const { code, message } = await refusal(mine.schedules.patch('own', { group }))
      expect([code, message]).toEqual(['schedule_invalid', expect.stringContaining('group: ')])
      expect((await refusal(mine.schedules.diff('own', { group }))).code).toBe('schedule_invalid')
    }
    expect((await refusal(mine.schedules.rename('own', 'foreign'))).code).toBe('schedule_exists')
    expect(await h.schedules.get('own')).toMatchObject({ version: 1, group: 'mine' })
  })

  it('lists and finds schedules of the group only', async () => {
    const { mine } = await open()
    const found = async (options: object) => [
      (await mine.schedules.list(options)).map(({ name }) => name),
      (await mine.schedules.search(options)).schedules.map(({ name }) => name),
    ]
    expect(await found({})).toEqual([['own'], ['own']])
    expect(await found({ group: 'mine', state: 'active' })).toEqual([['own'], ['own']])
    expect(await found({ group: 'theirs' })).toEqual([[], []])
    expect((await mine.schedules.search({ q: 'failing' })).schedules).toHaveLength(1)
    const { schedules: planned } = await mine.schedules.planned({ from: AT, to: NEXT })
    expect(planned.map(({ name }) => name)).toEqual(['own'])
  })

  it('has page tokens of its own', async () => {
    const { h, mine } = await open()
    await mine.schedules.put('own-2', minutely)
    const { nextPageToken } = await mine.schedules.search({ limit: 1 })
    expect((await mine.schedules.search({ limit: 1, pageToken: nextPageToken! })).schedules[0]!.name).toBe(
      'own-2',
    )
    for (const { schedules } of [h.escapement, h.escapement.inGroup('theirs')]) {
      expect((await refusal(schedules.search({ limit: 1, pageToken: nextPageToken! }))).code).toBe(
        'option_invalid',
      )
    }
  })

  it('pauses and resumes its own group', async () => {
    const { h, mine, look } = await open()
    const before = await look('foreign')
    for (const verb of ['pauseGroup', 'resumeGroup'] as const) {
      expect((await refusal(mine.schedules[verb]('theirs'))).code).toBe('forbidden')
      expect(await mine.schedules[verb]('mine')).toBe(1)
    }
    for (const verb of ['pauseAll', 'resumeAll'] as const) {
      for (const dryRun of [true, false]) {
        expect(await mine.schedules[verb]({ group: 'theirs' }, { dryRun })).toMatchObject({ changed: 0 })
        expect(await mine.schedules[verb]({}, { dryRun })).toMatchObject({ changed: 1, dryRun })
      }
    }
    expect(await look('foreign')).toEqual(before)
    expect(await h.schedules.get('own')).toMatchObject({ state: 'active', version: 5 })
  })

  it('syncs and prunes in the group', async () => {
    const { h, mine } = await open()
    await h.schedules.sync({
      'a-theirs': { ...minutely, group: 'theirs' },
      'a-mine': { ...minutely, group: 'mine' },
    })
    expect(await mine.schedules.sync({ 'b-mine': minutely }, { prune: true })).toEqual({
      changed: ['b-mine'],
      deleted: ['a-mine'],
    })
    expect((await h.schedules.get('b-mine')).group).toBe('mine')
    expect((await h.schedules.get('a-theirs')).group).toBe('theirs')
    const taken = mine.schedules.sync({ 'c-mine': minutely, foreign: minutely })
    expect((await refusal(taken)).code).toBe('schedule_exists')
    const elsewhere = mine.schedules.sync({ 'c-mine': minutely, new: { ...minutely, group: 'theirs' } })
    expect((await refusal(elsewhere)).code).toBe('schedule_invalid')
    expect((await refusal(h.schedules.get('c-mine'))).code).toBe('schedule_not_found')
  })

  it('knows runs of schedules of the group only', async () => {
    const { h, mine, look, runs } = await open()
    const direct = await h.runs.enqueue('noop', null)
    const before = { foreign: await look('foreign'), loose: await look('loose') }
    const others = [runs.foreign!, runs.loose!, { failed: direct.id, open: direct.id }]
    const refusals = async (ids: { failed: string; open: string }) => {
      const each = Object.values(ONE_RUN).map((call) => refusal(call(mine.runs, ids)))
      return new Set((await Promise.all(each)).map(({ code }) => code))
    }
    for (const ids of others) expect(await refusals(ids)).toEqual(new Set(['run_not_found']))
    expect({ foreign: await look('foreign'), loose: await look('loose') }).toEqual(before)
    for (const call of Object.values(ONE_RUN)) await call(mine.runs, runs.own!)
    await h.schedules.delete('own')
    expect(await refusals(runs.own!)).toEqual(new Set(['run_not_found']))
  })

  it('lists and finds runs of the group only', async () => {
    const { h, mine, runs } = await open()
    const { failed, open: pending } = runs.own!
    const { id: foreign } = await h.schedules.get('foreign')
    const found = async (options: object) =>
      new Set((await mine.runs.search(options)).runs.map(({ id }) => id))
    expect(await found({})).toEqual(new Set([failed, pending]))
    expect(await found({ state: 'failed' })).toEqual(new Set([failed]))
    expect(await found({ state: ['pending', 'running'], job: 'failing' })).toEqual(new Set([pending]))
    expect(await found({ schedule: 'own', limit: 1 })).toEqual(new Set([pending]))
    expect(await found({ scheduleId: foreign })).toEqual(new Set())
    expect(await mine.runs.list({ schedule: 'own' })).toHaveLength(2)
    for (const verb of ['list', 'search', 'retryAll'] as const) {
      const { code } = await refusal(mine.runs[verb]({ schedule: 'foreign' }))
      expect(code).toBe('schedule_not_found')
    }
  })

  it('tries again what has failed in the group, and asks for no direct runs', async () => {
    const { h, mine, runs } = await open()
    expect(await mine.runs.retryAll()).toEqual({ retried: 1, blocked: 0 })
    expect((await h.runs.get(runs.own!.failed)).state).toBe('retrying')
    expect((await h.runs.get(runs.foreign!.failed)).state).toBe('failed')
    for (const asked of [mine.runs.enqueue('noop', null), mine.runs.enqueueMany('noop', [{ input: null }])]) {
      expect((await refusal(asked)).code).toBe('forbidden')
    }
  })

  it('refuses a group that can be none', async () => {
    const { h } = await open()
    for (const group of ['', 'x'.repeat(201), undefined, 5] as string[]) {
      expect(() => h.escapement.inGroup(group)).toThrow(/group: /)
    }
  })
})

describe('a schedule that moves to another group', () => {
  it('is gone for whoever saw it before it was locked, with its runs', async () => {
    /** What somebody else does between the look at a schedule, or at a run, and its transaction. */
    let meanwhile: (() => Promise<void>) | undefined
    const database = await alteredDatabase((shared) => ({
      async transaction(work) {
        const act = meanwhile
        meanwhile = undefined
        await act?.()
        return shared.transaction(work)
      },
    }))
    const { h, mine, look, runs } = await open({ database })
    const afterMove = async (call: (mine: GroupAccess) => Promise<unknown>) => {
      await h.schedules.patch('own', { group: 'mine' })
      let moved: unknown
      meanwhile = async () => {
        await h.schedules.patch('own', { group: 'theirs' })
        moved = await look('own')
      }
      const { code } = await refusal(call(mine))
      expect(moved).toBeDefined()
      expect(await look('own')).toEqual(moved)
      return code
    }
    for (const [verb, call] of Object.entries(ONE)) {
      if (verb === 'get' || verb === 'diff') continue
      expect(await afterMove(({ schedules }) => call(schedules, 'own')), verb).toBe('schedule_not_found')
    }
    for (const [verb, call] of Object.entries(ONE_RUN)) {
      if (verb === 'get') continue
      expect(await afterMove((access) => call(access.runs, runs.own!)), verb).toBe('run_not_found')
    }
    const syncing = () => afterMove(({ schedules }) => schedules.sync({ own: minutely }))
    expect(await syncing()).toBe('schedule_exists')
  })
})
