import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { after, cron, every, once } from '../../src/index.js'
import { serve } from '../../src/server/serve.js'
import { openPGlite } from '../../src/store/pglite.js'
import { createHarness, type Harness } from '../../src/testing/harness.js'
import { emptyDatabase } from '../support/empty-database.js'
import { launchChromium } from './chromium.js'
import { lookAtEveryWidth, seriousFindings, visit } from './visitor.js'

/** A server whose clock the test moves: every disposition has its day. */
interface Site {
  harness: Harness
  url: string
  /** The days in March whose plan times were run. */
  days: number[]
  /** Lets the run of the 28th end. */
  finish(): void
  close(): Promise<void>
}

async function openSite(): Promise<Site> {
  const harness = await createHarness({
    at: '2026-03-20T12:00:00Z',
    database: await openPGlite({ template: await emptyDatabase() }),
  })
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const days: number[] = []
  harness.job('report', {
    retry: { attempts: 1 },
    async handler({ planTime }) {
      const day = planTime!.getUTCDate()
      days.push(day)
      if (day === 22) throw new Error('The printer is out of paper')
      if (day === 28) await finished
    },
  })
  harness.job('flaky', {
    retry: { attempts: 2, backoff: ['30 days'] },
    handler() {
      throw new Error('The printer is warming up')
    },
  })
  harness.job('noop', { handler: () => {} })
  const server = await serve(harness.escapement, { port: 0 })
  return {
    harness,
    url: server.url,
    days,
    finish,
    async close() {
      finish()
      await server.close()
      await harness.close()
    },
  }
}

/** Each day is another; it ends at noon of the 28th, with a run that nobody has begun. */
async function liveThroughEverything({ schedules, runs, escapement, advance, jump }: Harness) {
  const timing = cron('30 2 * * *', { zone: 'Europe/Berlin' })
  await schedules.put('nightly', { job: 'report', timing, catchUp: 'none' })
  await advance('2 days')
  jump('1 day')
  await schedules.pause('nightly', { reason: 'stocktaking' })
  await advance('1 day')
  await schedules.resume('nightly')
  await schedules.skip('nightly', '2026-03-25T02:30')
  await advance('1 day')
  await escapement.claiming.pause()
  await advance('1 day')
  const [open] = await runs.list({ schedule: 'nightly' })
  await runs.cancel(open!.id)
  await escapement.claiming.resume()
  await schedules.patch('nightly', { job: 'flaky' })
  await advance('1 day')
  await schedules.patch('nightly', { job: 'report' })
  await escapement.claiming.pause()
  await advance('1 day')
}

let browser: Browser
let site: Site
beforeAll(async () => {
  ;[browser, site] = await Promise.all([launchChromium(), openSite()])
  await liveThroughEverything(site.harness)
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await site?.close()
})

const chip = (page: Page, name: string | RegExp) =>
  page.getByRole('region', { name: 'Timeline', exact: true }).getByRole('button', { name })
const detail = (page: Page) => page.getByRole('dialog', { name: /^Plan time/ })

it('shows every disposition with its words, and tells them apart without colour', async () => {
  const { page, complaints, close } = await visit(browser, `${site.url}/schedules/nightly`)
  const told = [
    [/March 2026, Sat 21, 02:30 ran$/, 'It ran, and succeeded.'],
    [/Sun 22, 02:30 failed$/, 'It ran, and failed: its attempts are used up.'],
    [/Mon 23, 02:30 missed$/, 'catch-up is “none”: what has passed is left.'],
    [/Tue 24, 02:30 skipped: paused$/, 'Skipped: the schedule was paused.'],
    [/Wed 25, 02:30 skipped: operator$/, 'Skipped: an operator wished it so.'],
    [/Thu 26, 02:30 cancelled$/, 'Its run was cancelled.'],
    [/Fri 27, 02:30 retrying$/, 'its run waits for the next one.'],
    [/Sat 28, 02:30 pending$/, 'Its run waits to be begun.'],
    [/Sun 29, 03:30 upcoming \(touched by daylight saving\)$/, '02:30 does not exist on 2026-03-29'],
    [/Mon 30, 02:30 upcoming$/, 'It is to run.'],
  ] as const
  for (const [name, words] of told) {
    await chip(page, name).click()
    await detail(page).getByText(words).waitFor()
  }
  await page.keyboard.press('Escape')
  await detail(page).waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.textContent')).toMatch(/Mon 30/)
  const signs = await page
    .getByRole('list', { name: 'Legend' })
    .locator('svg')
    .evaluateAll((marks) => marks.map(({ innerHTML }) => innerHTML))
  expect(new Set(signs).size).toBe(8)
  await page.getByText('Now, 13:0').waitFor()

  await chip(page, /Sun 29/).press('Enter')
  await detail(page).getByText('Sun, 29 March 2026 at 03:30:00 CEST').waitFor()
  await detail(page).getByText('2026-03-29T01:30:00.000Z', { exact: true }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await seriousFindings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await lookAtEveryWidth(page, 'timeline')
  expect(complaints()).toEqual([])
  await close()
})

it('skips a plan time to come and takes it back, and what is skipped is not run', async () => {
  const { harness } = site
  const { page, complaints, close } = await visit(browser, `${site.url}/schedules/nightly`)
  await page.getByText('Live', { exact: true }).waitFor()
  for (const day of [/Mon 30/, /Tue 31/]) {
    await page.keyboard.press('Escape')
    await chip(page, day).click()
    await detail(page).getByRole('button', { name: 'Skip', exact: true }).click()
    await detail(page).getByText('To be skipped: an operator wishes it so.').waitFor()
  }
  // It keeps the focus, though it is another button now.
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Do not skip')
  await detail(page).getByText('From a terminal').click()
  await detail(page).getByText('escapement schedules unskip nightly 2026-03-31T00:30:00.000Z').waitFor()
  await page.reload()
  await chip(page, /Mon 30, 02:30 to be skipped: operator$/).waitFor()
  await chip(page, /Tue 31, 02:30 to be skipped: operator$/).click()
  await detail(page).getByRole('button', { name: 'Do not skip' }).click()
  await detail(page).getByRole('button', { name: 'Skip', exact: true }).waitFor()
  await page.keyboard.press('Escape')

  await page.getByText('Live', { exact: true }).waitFor()
  await harness.escapement.claiming.resume()
  const advancing = harness.advance('3 days')
  await chip(page, /Sat 28, 02:30 running$/).waitFor()
  site.finish()
  await advancing
  await chip(page, /Tue 31, 02:30 ran$/).waitFor()
  await chip(page, /Mon 30, 02:30 skipped: operator$/).click()
  await detail(page).getByText('Skipped: an operator wished it so.').waitFor()
  expect(site.days.slice(-3)).toEqual([28, 29, 31])
  await page.clock.setFixedTime(harness.now())
  await page.keyboard.press('Escape')
  await page.getByText('Next run: in 12 h').waitFor()
  await lookAtEveryWidth(page, 'schedule-lived')
  await chip(page, /Sun 29/).click()
  await detail(page).getByRole('link', { name: 'Its run' }).click()
  await page.getByRole('heading', { name: 'Run of report' }).waitFor()
  await page.goBack()

  // Its time comes between the look and the click.
  await page.route('**/skip', async (route) => {
    await harness.advance('1 day')
    await route.continue()
  })
  await chip(page, /Wed 1, 02:30 upcoming$/).click()
  await detail(page).getByRole('button', { name: 'Skip', exact: true }).click()
  await detail(page).getByRole('alert').getByText('already_decided').waitFor()
  await detail(page).getByText('It ran, and succeeded.').waitFor()
  expect(await detail(page).getByRole('button', { name: 'Skip', exact: true }).count()).toBe(0)
  expect(complaints().filter((text) => !/status of 409/.test(text))).toEqual([])
  await close()
})

it('leads to what was earlier and what is later, by the address', async () => {
  const { page, complaints, close } = await visit(
    browser,
    `${site.url}/schedules/nightly?before=2026-03-24T12:00:00Z`,
  )
  await chip(page, /Tue 24/).waitFor()
  expect(await page.getByText(/^Now,/).count()).toBe(0)
  expect(await chip(page, /./).count()).toBe(4)
  await page.getByRole('link', { name: 'Later' }).click()
  await chip(page, /Wed 25/).waitFor()
  expect(new URL(page.url()).search).toBe('?from=2026-03-24T01%3A30%3A00.001Z')
  expect(await chip(page, /./).count()).toBe(60)
  await page.getByRole('link', { name: 'Later' }).click()
  await chip(page, /Wed 27/).waitFor()
  await page.getByRole('link', { name: 'Earlier' }).click()
  await chip(page, /Wed 25/).waitFor()
  await page.getByRole('link', { name: 'Around now' }).click()
  await page.getByText(/^Now,/).waitFor()
  expect(new URL(page.url()).search).toBe('')
  expect(complaints()).toEqual([])
  await close()
})

it('can be read for every kind of schedule', async () => {
  const { schedules, advance, jump } = site.harness
  const scopes = ['berlin', 'paris', 'tokyo']
  await schedules.put('scoped', { job: 'noop', timing: every('1 hour'), scopes, overlap: 'skip' })
  await schedules.put('one-off', {
    job: 'noop',
    timing: once('2026-12-24T18:00', { zone: 'America/New_York' }),
  })
  await schedules.put('yearly', { job: 'noop', timing: cron('0 9 1 1 *', { zone: 'Asia/Tokyo' }) })
  await schedules.put('in-turn', { job: 'noop', timing: after('1 hour') })
  await advance('5 hours')
  await schedules.put('ticking', { job: 'noop', timing: every('1 second'), catchUp: 'none', grace: '5s' })
  jump('1 day')
  await advance('0s')

  const { page, complaints, close } = await visit(browser, `${site.url}/schedules/ticking`)
  await chip(page, /:\d\d missed$/)
    .first()
    .waitFor()
  expect(await chip(page, /./).count()).toBe(60)
  await page.setViewportSize({ width: 380, height: 900 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(380)
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.goto(`${site.url}/schedules/scoped`)
  await chip(page, / 3 ran$/)
    .first()
    .click()
  await detail(page).getByText('tokyo:').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await lookAtEveryWidth(page, 'timeline-scoped')
  await page.goto(`${site.url}/schedules/yearly?zone=own`)
  await chip(page, /^1 Jan 2027, 09:00 upcoming$/).waitFor()
  await page.getByText('No plan time has passed yet.').waitFor()
  await page.goto(`${site.url}/schedules/one-off`)
  await chip(page, /Fri, 25 December 2026, 00:00 upcoming$/).click()
  await detail(page).getByText('Thu, 24 December 2026 at 18:00:00').waitFor()
  await page.getByText('That is the last one.').waitFor()
  await page.goto(`${site.url}/schedules/in-turn`)
  await chip(page, /ran$/).first().waitFor()
  await page.getByText('Each later one follows the end of the run before it.').waitFor()
  expect(complaints()).toEqual([])
  await close()
})

it('gives a viewer nothing to skip with', async () => {
  const { page, close } = await visit(browser, `${site.url}/schedules/yearly`)
  await page.route('**/api/v1/session', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), role: 'viewer' } })
  })
  await page.reload()
  await chip(page, /2027/).click()
  await detail(page).getByText('It is to run.').waitFor()
  expect(await detail(page).getByRole('button', { name: 'Skip', exact: true }).count()).toBe(0)
  await close()
})
