import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEscapement, type Escapement } from '../../src/escapement.js'
import { cron, type EscapementOptions, every } from '../../src/index.js'
import { serve } from '../../src/server/serve.js'
import { openPGlite } from '../../src/store/pglite.js'
import { createManualClock } from '../../src/testing/manual-clock.js'
import { emptyDatabase } from '../support/empty-database.js'
import { launchChromium } from './chromium.js'
import { lookAtEveryWidth, seriousFindings, visit } from './visitor.js'

/** The Wednesday before clocks are set back in Berlin: 25 October 2026 has 25 hours. */
const NOW = '2026-10-21T09:30:00Z'

let browser: Browser
let site: OwnSite
beforeAll(async () => {
  ;[browser, site] = await Promise.all([
    launchChromium(),
    open({ clock: createManualClock(Date.parse(NOW)) }),
  ])
  await putSchedules(site.escapement)
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await site?.close()
})

interface OwnSite {
  escapement: Escapement
  url: string
  close(): Promise<void>
}

/** No loops: nothing but the pages changes anything. */
async function open(options: EscapementOptions = {}): Promise<OwnSite> {
  const database = await openPGlite({ template: await emptyDatabase() })
  const escapement = await createEscapement({ database, ...options })
  escapement.job('send-report', { handler: () => {} })
  const server = await serve(escapement, { port: 0 })
  return {
    escapement,
    url: server.url,
    async close() {
      await server.close()
      await escapement.close()
    },
  }
}

/** Sixty at nine in the morning, as many spread over every hour, and two of another queue. */
async function putSchedules({ schedules }: Escapement): Promise<void> {
  const job = 'send-report'
  const entries = Array.from({ length: 60 }, (_, index) => {
    const number = String(index + 1).padStart(2, '0')
    const zone = 'Europe/Berlin'
    return [
      [`report:${number}`, { job, group: 'reports', timing: cron(`${index} 9 * * MON-FRI`, { zone }) }],
      [`sync:${number}`, { job, timing: every(`${index + 2} hours`), queue: index < 2 ? 'slow' : 'default' }],
    ]
  })
  await schedules.sync(Object.fromEntries(entries.flat()))
}

/** Somebody in Berlin at that time. */
async function visitThen(path: string) {
  const visitor = await visit(browser, `${site.url}/health`)
  await visitor.page.clock.setFixedTime(NOW)
  await visitor.page.goto(`${site.url}${path}`)
  return visitor
}

describe('the calendar', () => {
  it('shows a week as heat, in every width, by keyboard, and what comes in an hour', async () => {
    const { page, complaints, close } = await visitThen('/')
    await page.getByRole('link', { name: 'Calendar' }).click()
    const nine = page.getByRole('button', { name: /^Thursday,? 22 October, 09:00 to 10:00: \d+ runs$/ })
    await nine.waitFor()
    await page.getByText('21–27 October 2026').waitFor()
    expect(await page.getByRole('link', { name: /: past, see its runs$/ }).count()).toBe(11)
    await page.getByRole('button', { name: /^Wednesday.*11:00 to 12:00: .* from now on$/ }).waitFor()
    // Sunday has an hour twice, and all of them are there.
    expect(await page.getByRole('button', { name: /^Sunday,? 25 October, 02:00 GMT\+\d to/ }).count()).toBe(2)
    expect(await page.getByRole('button', { name: /^Sunday/ }).count()).toBe(25)
    expect(await page.getByText('estimate').count()).toBe(0)
    expect(await seriousFindings(page)).toEqual([])
    await lookAtEveryWidth(page, 'calendar')

    await nine.focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toMatch(
      /^Friday,? 23 October, 10:00/,
    )
    await nine.click()
    await page.getByRole('heading', { name: /Thursday,? 22 October, 09:00 to 10:00/ }).waitFor()
    await page.getByRole('link', { name: 'report:01' }).waitFor()
    // Every 31 hours: it comes at nine that day.
    await page.getByRole('link', { name: 'sync:30' }).waitFor()
    const address = new URL(page.url()).searchParams
    expect([address.get('week'), address.get('hour')]).toEqual(['2026-10-21', '2026-10-22T07:00:00.000Z'])
    await lookAtEveryWidth(page, 'calendar-hour')
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByRole('link', { name: 'report:60' }).waitFor()
    await page.getByRole('link', { name: 'report:01' }).waitFor({ state: 'detached' })
    expect(await seriousFindings(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints()).toEqual([])
    await close()
  })

  it('is filtered and goes from week to week in the address, over a day that lacks an hour', async () => {
    const { page, complaints, close } = await visitThen('/calendar?week=2027-03-24&queue=slow')
    await page.getByText('24–30 March 2027').waitFor()
    const cells = page.getByRole('table').getByRole('button')
    await page
      .getByRole('button', { name: /^Tuesday.*: 1 run$/ })
      .first()
      .waitFor()
    expect(await cells.count()).toBe(7 * 24 - 1)
    expect(await page.getByText('There is no such hour that day').count()).toBe(1)
    await page.getByLabel('Group').fill('nobody')
    await page.getByText('Nothing of that queue and group is planned').waitFor()
    await page.getByRole('link', { name: 'Later' }).click()
    await page.getByText('31 March – 6 April 2027').waitFor()
    expect(new URL(page.url()).search).toBe('?week=2027-03-31&queue=slow&group=nobody')
    await page.getByRole('link', { name: 'From today' }).click()
    await page.getByText('21–27 October 2026').waitFor()
    await page.getByRole('link', { name: 'Earlier' }).click()
    await page.getByText('These days are past.').waitFor()
    const first = page.getByRole('link', { name: /^Wednesday,? 14 October, 00:00/ })
    expect(await first.getAttribute('href')).toBe(
      '/runs?from=2026-10-13T22%3A00%3A00.000Z&to=2026-10-13T23%3A00%3A00.000Z',
    )
    expect(complaints()).toEqual([])
    await close()
  })

  it('says so when the figures are an estimate', async () => {
    const { page, complaints, close } = await visitThen('/')
    await page.route('**/api/v1/forecast?*', (route) =>
      route.fulfill({
        json: {
          buckets: [{ from: '2026-10-22T07:00:00.000Z', queue: null, group: null, runs: 83_217 }],
          isEstimate: true,
        },
      }),
    )
    await page.getByRole('link', { name: 'Calendar' }).click()
    await page.getByText('estimate', { exact: true }).waitFor()
    await page.getByRole('button', { name: /09:00 to 10:00: about 83,000 runs$/ }).waitFor()
    expect(complaints()).toEqual([])
    await close()
  })
})

describe('tokens', () => {
  // Of its own: the first token closes the door. A session ends by the browser's own clock.
  let own: OwnSite
  beforeAll(async () => {
    own = await open()
  }, 60_000)
  afterAll(() => own?.close())

  it('are made, shown once and revoked; the first one closes the door behind whoever made it', async () => {
    const { page, complaints, close } = await visit(browser, `${own.url}/`)
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByText('No tokens yet.').waitFor()
    await lookAtEveryWidth(page, 'tokens-none')
    await page.getByRole('button', { name: 'Make a token…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('From the first token on everybody must log in').waitFor()
    expect(await dialog.getByLabel('Role').count()).toBe(0)
    await dialog.getByLabel('Name').fill('alice')
    await dialog.getByText('From a terminal').click()
    await dialog.getByText(`escapement tokens create 'alice' --role admin`).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Make it' }).click()
    const shown = page.getByRole('region', { name: 'The new token' })
    const text = await shown.getByText(/^esc_/).textContent()
    expect(await own.escapement.tokens.verify(text!)).toMatchObject({
      name: 'alice',
      role: 'admin',
      group: null,
    })
    await page.getByText('alice', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Log out' }).waitFor()
    await shown.getByRole('button', { name: 'I have kept it' }).click()
    await shown.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Make a token…' }).click()
    await dialog.getByLabel('Name').fill('local')
    await dialog.getByLabel('Role').selectOption('viewer')
    await dialog.getByText('Reads everything.').waitFor()
    await dialog.getByLabel('Group').fill('reports')
    await dialog.getByLabel('Lasts').selectOption('90 days')
    await dialog.getByRole('button', { name: 'Make it' }).click()
    await dialog.getByRole('alert').getByText('choose another').waitFor()
    await dialog.getByLabel('Name').fill('acme')
    await dialog
      .getByText(`escapement tokens create 'acme' --role viewer --group 'reports' --expires-in '90 days'`)
      .waitFor()
    await dialog.getByRole('button', { name: 'Make it' }).click()
    await page.getByText('This is the token of acme, shown this once.').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await lookAtEveryWidth(page, 'tokens')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await seriousFindings(page)).toEqual([])

    const row = page.getByRole('row').filter({ hasText: 'acme' })
    await row.getByRole('button', { name: 'Revoke…' }).click()
    const question = page.getByRole('dialog', { name: 'Revoke the token of acme' })
    await question.getByText('sessions of the dashboard that were opened with it end').waitFor()
    await question.getByRole('button', { name: 'Revoke it' }).click()
    await row.getByText('revoked', { exact: true }).waitFor()
    expect((await own.escapement.tokens.list()).map(({ name, state }) => [name, state])).toEqual([
      ['acme', 'revoked'],
      ['alice', 'live'],
    ])
    // It goes with the page, and is not there for whoever comes back.
    await page.getByRole('link', { name: 'Workers' }).click()
    await page.getByRole('heading', { name: 'Workers', exact: true }).first().waitFor()
    await page.getByRole('link', { name: 'Tokens' }).click()
    await row.waitFor()
    expect(await shown.count()).toBe(0)
    expect(complaints().filter((told) => !/status of (?:401|422|400)/.test(told))).toEqual([])
    const ownRow = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: /^alice/ }) })
    await ownRow.getByRole('button', { name: 'Revoke…' }).click()
    await page.getByRole('button', { name: 'Revoke it' }).click()
    await page.getByRole('status').getByText('Your session has ended.').waitFor()
    await close()
  })

  it('are for admins', async () => {
    const { token } = await own.escapement.tokens.create({ name: 'olga', role: 'operator' })
    const { page, close } = await visit(browser, `${own.url}/tokens`)
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('Tokens are for admins').waitFor()
    expect(await page.getByRole('link', { name: 'Tokens' }).count()).toBe(0)
    await close()
  })
})
