import { describe, expect, it } from 'vitest'
import { every, type SearchOptions } from '../../src/index.js'
import { openHarness } from '../support/harness.js'

const hourly = { job: 'noop', timing: every('1 hour') }

async function open() {
  const h = await openHarness({ at: '2026-03-01T12:00:30Z' })
  h.job('noop', { handler: () => {} })
  h.job('send-report', { handler: () => {} })
  const names = async (options: SearchOptions) =>
    (await h.schedules.search(options)).schedules.map(({ name }) => name)
  /** All pages. */
  const all = async (options: SearchOptions) => {
    const found: string[][] = []
    let pageToken: string | null | undefined
    do {
      const page = await h.schedules.search({ ...options, ...(pageToken && { pageToken }) })
      found.push(page.schedules.map(({ name }) => name))
      pageToken = page.nextPageToken
    } while (pageToken !== null)
    return found
  }
  return { h, names, all }
}

describe('search of schedules', () => {
  it('finds by beginnings of words of name, job, group and description, in capitals or not', async () => {
    const { h, names } = await open()
    await h.schedules.put('report:acme', { ...hourly, job: 'send-report', group: 'Big.Customers' })
    await h.schedules.put('invoice:Beta-7', { ...hourly, description: "Beta's (yearly) invoice, by mail" })
    expect(await names({ q: 'acm' })).toEqual(['report:acme'])
    expect(await names({ q: 'CUST send' })).toEqual(['report:acme'])
    expect(await names({ q: 'yearly "MAIL"' })).toEqual(['invoice:Beta-7'])
    expect(await names({ q: 'beta 7' })).toEqual(['invoice:Beta-7'])
    expect(await names({ q: 'cme' })).toEqual([])
    expect(await names({ q: ' -- ' })).toEqual(['invoice:Beta-7', 'report:acme'])
  })

  it('gives every schedule once, page by page', async () => {
    const { h, all } = await open()
    const some = ['a', 'b', 'c', 'd', 'e']
    await h.schedules.sync(Object.fromEntries(some.map((name) => [name, hourly])))
    expect(await all({ limit: 2 })).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(await all({ limit: 5 })).toEqual([some])
    expect(await all({ limit: 2, q: 'noop', state: 'active' })).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })
})
