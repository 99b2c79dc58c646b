import { describe, expect, it } from 'vitest'
import { every, type RunSearchOptions, type SearchOptions } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const AT = '2026-03-01T12:00:30Z'
const hourly = { job: 'noop', timing: every('1 hour') }

async function open() {
  const h = await openHarness({ at: AT })
  h.job('noop', { handler: () => {} })
  h.job('send-report', { handler: () => {} })
  h.job('failing', {
    retry: { attempts: 1 },
    handler: () => {
      throw new Error('no')
    },
  })
  const names = async (options: SearchOptions) =>
    (await h.schedules.search(options)).schedules.map(({ name }) => name)
  return { h, names }
}

describe('search of schedules', () => {
  it('finds by beginnings of words of name, job, group and description, in capitals or not', async () => {
    const { h, names } = await open()
    await h.schedules.put('report:acme', { ...hourly, job: 'send-report', group: 'Big.Customers' })
    await h.schedules.put('invoice:Beta-7', { ...hourly, description: "Beta's (yearly) invoice, by e\\mail" })
    expect(await names({ q: 'acm' })).toEqual(['report:acme'])
    expect(await names({ q: 'CUST send' })).toEqual(['report:acme'])
    expect(await names({ q: '  yearly "MAIL" & !beta:*' })).toEqual(['invoice:Beta-7'])
    expect(await names({ q: 'beta 7' })).toEqual(['invoice:Beta-7'])
    expect(await names({ q: 'cme' })).toEqual([])
    expect(await names({ q: 'acme beta' })).toEqual([])
    expect(await names({ q: ' -- ' })).toEqual(['invoice:Beta-7', 'report:acme'])
    expect(await names({ q: '' })).toEqual(['invoice:Beta-7', 'report:acme'])
  })

  it('finds words of other scripts, and takes long ones and long descriptions', async () => {
    const { h, names } = await open()
    await h.schedules.put('a', { ...hourly, description: `東京 ünder ${'ß'.repeat(3_000)}` })
    await h.schedules.put('b', { ...hourly, description: '🕰'.repeat(2_000) })
    expect(await names({ q: '東' })).toEqual(['a'])
    expect(await names({ q: 'ünd' })).toEqual(['a'])
    expect(await names({ q: 'ßß' })).toEqual(['a'])
    expect(await names({ q: '🕰' })).toEqual(['b'])
  })

  it('gives those first whose names begin with what is asked for', async () => {
    const { h, names } = await open()
    for (const name of ['a:mail', 'mail:1', 'mails', 'x.mail', 'zmail']) await h.schedules.put(name, hourly)
    expect(await names({ q: 'mail' })).toEqual(['mail:1', 'mails', 'a:mail', 'x.mail'])
    expect(await names({ q: 'mail', limit: 1 })).toEqual(['mail:1'])
    expect(await names({ q: 'mail:1' })).toEqual(['mail:1'])
    expect(await names({ q: 'MAIL' })).toEqual(['a:mail', 'mail:1', 'mails', 'x.mail'])
  })

  it('combines filters, and follows what is changed', async () => {
    const { h, names } = await open()
    await h.schedules.sync({ a: { ...hourly, group: 'g' }, b: { ...hourly, group: 'g' } }, { source: 'one' })
    await h.schedules.put('c', { ...hourly, job: 'send-report', group: 'g', description: 'first' })
    await h.schedules.pause('b')
    expect(await names({ group: 'g', state: 'paused' })).toEqual(['b'])
    expect(await names({ group: 'g', job: 'send-report' })).toEqual(['c'])
    expect(await names({ source: 'one', state: 'active' })).toEqual(['a'])
    expect(await names({ q: 'first', group: 'g' })).toEqual(['c'])
    await h.schedules.patch('c', { description: 'second' })
    await h.schedules.rename('a', 'first:a')
    expect(await names({ q: 'first' })).toEqual(['first:a'])
  })

  it('refuses tokens that are not its own, and options that are wrong, all at once', async () => {
    const { h } = await open()
    for (const name of ['a', 'b', 'c']) await h.schedules.put(name, hourly)
    const { nextPageToken: pageToken } = await h.schedules.search({ limit: 1, state: 'active' })
    const search = (options: object) => h.schedules.search(options)
    await expect(search({ pageToken, state: 'active', limit: 2 })).resolves.toMatchObject({
      nextPageToken: null,
    })
    await expect(search({ pageToken })).rejects.toThrow(/pageToken: .* of another list or filter/)
    await expect(search({ pageToken: 'b' })).rejects.toMatchObject({ code: 'option_invalid' })
    const runs = await h.runs.search({ limit: 1 })
    expect(runs).toEqual({ runs: [], nextPageToken: null })
    const wrong = search({ limit: 1_001, q: 'x'.repeat(201), stat: 'active', state: 'actve' })
    await expect(wrong).rejects.toThrow(
      /limit: .*\n?.*q: [\s\S]*stat: unknown option[\s\S]*did you mean "active"/,
    )
  })
})

describe('search of runs', () => {
  it('is by plan time, or where a run has none by when it was asked for, newest first', async () => {
    const { h } = await open()
    await h.schedules.put('s', { job: 'noop', timing: every('1 minute') })
    await h.advance('2 minutes')
    const manual = await h.schedules.trigger('s', { key: 'k' })
    h.jump('10 seconds')
    const keyed = await h.runs.enqueue('noop', null, { key: 'k', at: { in: '1 day' } })
    await h.advance('1 minute')
    const found = async (options: RunSearchOptions) => {
      const { runs } = await h.runs.search(options)
      const name = ({ id, planTime }: (typeof runs)[number]) =>
        id === manual ? 'manual' : id === keyed.id ? 'keyed' : planTime?.toISOString().slice(11, 16)
      return runs.map(name)
    }
    expect(await found({})).toEqual(['12:03', 'keyed', 'manual', '12:02', '12:01'])
    expect(await found({ trigger: 'scheduled', limit: 2 })).toEqual(['12:03', '12:02'])
    expect(await found({ schedule: 's' })).toEqual(['12:03', 'manual', '12:02', '12:01'])
    expect(await found({ state: 'pending' })).toEqual(['keyed'])
    expect(await found({ from: '2026-03-01T12:02:00Z', to: '2026-03-01T12:03:00Z' })).toEqual([
      'keyed',
      'manual',
      '12:02',
    ])
    const { id } = await h.schedules.get('s')
    await h.schedules.delete('s')
    expect(await found({ scheduleId: id, trigger: 'manual' })).toEqual(['manual'])
    await expect(h.runs.search({ schedule: 's' })).rejects.toMatchObject({ code: 'schedule_not_found' })
  })

  it('is by the end where only ended ones are asked for', async () => {
    const { h } = await open()
    await h.escapement.claiming.pause()
    const first = await h.runs.enqueue('failing', null, { queue: 'other' })
    h.jump('1 second')
    const second = await h.runs.enqueue('failing', null, { at: { in: '1 second' } })
    const third = await h.runs.enqueue('noop', null)
    await h.runs.cancel(third.id)
    await h.escapement.claiming.resume()
    h.jump('1 minute')
    await h.advance('1 second')
    expect((await h.runs.search({ state: 'failed' })).runs.map(({ id }) => id)).toEqual([second.id])
    await h.runs.cancel(first.id)
    const ended = async (options: RunSearchOptions = {}) =>
      (await h.runs.search({ state: ['failed', 'cancelled'], ...options })).runs.map(({ id }) => id)
    expect(await ended()).toEqual([first.id, second.id, third.id])
    expect(await ended({ job: 'failing' })).toEqual([first.id, second.id])
    expect(await ended({ to: '2026-03-01T12:01:00Z' })).toEqual([third.id])
    expect(await ended({ queue: 'other' })).toEqual([first.id])
  })

  it('refuses tokens that are not its own, and options that are wrong, all at once', async () => {
    const { h } = await open()
    await h.runs.enqueueMany('noop', [{ input: 1 }, { input: 2 }])
    const { nextPageToken: pageToken } = await h.runs.search({ limit: 1, job: 'noop' })
    const search = (options: object) => h.runs.search(options)
    await expect(search({ pageToken, job: 'noop' })).resolves.toMatchObject({ runs: [{ job: 'noop' }] })
    await expect(search({ pageToken, state: 'pending' })).rejects.toThrow(
      /pageToken: .* another list or filter/,
    )
    const { nextPageToken: other } = await h.schedules.search({})
    expect(other).toBeNull()
    const wrong = search({ state: ['failed', 'runing'], scheduleId: 'x', trigger: 'cron', limit: 0 })
    await expect(wrong).rejects.toThrow(
      /state\[1\]: .*did you mean "running"[\s\S]*scheduleId: [\s\S]*trigger: [\s\S]*limit: /,
    )
    await expect(search({ state: [] })).rejects.toThrow(/state: \[\] – must name at least one/)
    await expect(search({ from: 'x', to: 'y' })).rejects.toThrow(/from: [\s\S]*to: /)
  })
})
