import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPGlite } from '../../src/store/pglite.js'
import { emptyDatabase } from '../support/empty-database.js'
import { launchChromium } from './chromium.js'
import { openSite, type Site } from './site.js'
import { lookAtEveryWidth, seriousFindings, visit } from './visitor.js'

let browser: Browser
let site: Site
beforeAll(async () => {
  const embedded = openPGlite({ template: await emptyDatabase() })
  ;[browser, site] = await Promise.all([launchChromium(), embedded.then((database) => openSite(database))])
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await site?.close()
})

/** A week of minutes: busy by day, with a bad hour a while ago, and something failed now and then. */
async function fillMinutes(): Promise<void> {
  await site.escapement.database.query(
    `insert into escapement.run_minutes
     select date_bin('1 minute', now(), 'epoch') - n * interval '1 minute', runs, case when n % 17 = 0 then 2 else 0 end,
       case when n % 29 = 0 then 5 else 0 end, 0, runs,
       array(select case when g = case when n between 20 and 30 then 40 else 6 end then runs - runs / 10 - runs / 40
           when g = case when n between 20 and 30 then 52 else 18 + n % 3 end then runs / 10
           when g = case when n between 20 and 30 then 58 else 28 + n % 5 end then runs / 40 else 0 end
         from generate_series(0, 60) as g),
       case when n between 20 and 30 then 52000 else 700 end
     from (select n, 40 + (30 * sin(n / 229.0))::int + (n * 7919 % 13) as runs from generate_series(2, 10080) as n) as m
     where n % 53 > 2
     on conflict (minute) do nothing`,
  )
}

describe('the overview over time', () => {
  it('says when the first point comes where there is none', async () => {
    const { page, complaints, close } = await visit(browser, `${site.url}/?span=week`)
    await page.route('**/api/v1/stats/history?*', (route) =>
      route.fulfill({ json: { from: '', to: '', bucketMs: 60_000, points: [] } }),
    )
    await page.reload()
    await page.getByText('No run ended or started in the last week.').waitFor()
    await page.getByText(/what runs now is shown soon after \d\d:\d\d\.$/).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await lookAtEveryWidth(page, 'overview-no-history')
    expect(complaints()).toEqual([])
    await close()
  })

  it('shows throughput and lateness of an hour, a day and a week, to everybody', async () => {
    await fillMinutes()
    const { page, complaints, close } = await visit(browser, `${site.url}/`)
    const throughput = page.getByRole('img', {
      name: /^Throughput in the last hour: [\d,]+ runs ended, \d+ failed; at most \d+ in a minute, at \d\d:\d\d\.$/,
    })
    await throughput.waitFor()
    await page
      .getByRole('img', {
        name: /^Lateness in the last hour: [\d,]+ runs started, 99 % of them within \d+ s even at the worst, at \d\d:\d\d\.$/,
      })
      .waitFor()
    expect(await throughput.locator('rect').count()).toBeGreaterThan(50)

    const slider = page.getByRole('slider', { name: 'Throughput: runs in a minute: point in time' })
    await slider.focus()
    const newest = await slider.getAttribute('aria-valuetext')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => slider.getAttribute('aria-valuetext')).not.toBe(newest)
    const said = await slider.getAttribute('aria-valuetext')
    expect(said).toMatch(/^\d\d:\d\d: \d+ succeeded/)
    await page.getByText(`${said}.`, { exact: true }).waitFor()
    await slider.hover()
    await page.getByText(/^\d\d:\d\d: median \d+ (ms|s), 95 % .*, longest .*\.$/).waitFor()
    await page.mouse.move(0, 0)
    await slider.blur()

    await page.getByText('As a table').click()
    await page.getByRole('columnheader', { name: 'Longest' }).waitFor()
    expect(await page.getByRole('table').first().getByRole('row').count()).toBeGreaterThan(50)
    expect(await seriousFindings(page)).toEqual([])
    await page.getByText('As a table').click()
    await lookAtEveryWidth(page, 'overview-hour')

    await page.getByRole('link', { name: 'Day', exact: true }).click()
    await page
      .getByRole('img', { name: /^Throughput in the last day: .* in 15 minutes, at \w+ \d\d:\d\d\.$/ })
      .waitFor()
    await page.getByRole('link', { name: 'Week', exact: true }).click()
    await page.getByRole('img', { name: /^Lateness in the last week: / }).waitFor()
    expect(new URL(page.url()).search).toBe('?span=week')
    await lookAtEveryWidth(page, 'overview-week')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints()).toEqual([])
    await close()
  })
})
