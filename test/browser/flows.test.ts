import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEscapement, type Escapement } from '../../src/escapement.js'
import { serve } from '../../src/server/serve.js'
import { openPGlite } from '../../src/store/pglite.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'
import { emptyDatabase } from '../support/empty-database.js'
import { launchChromium } from './chromium.js'
import { visit } from './visitor.js'

/** What somebody does in a day, by hand, and never with a reload. */
describe.each([
  [
    'the embedded database',
    async () => ({ database: await openPGlite({ template: await emptyDatabase() }) }),
  ],
  ['PostgreSQL', async () => ({ database: postgresUrl(), schema: freshSchemaName() })],
])('on %s', (_, place) => {
  let browser: Browser
  let escapement: Escapement
  let site: Awaited<ReturnType<typeof serve>>
  let isClosed = false
  beforeAll(async () => {
    ;[browser, escapement] = await Promise.all([
      launchChromium(),
      place().then((options) => createEscapement(options)),
    ])
    escapement.job('sync-orders', {
      retry: { attempts: 1 },
      handler() {
        if (isClosed) throw new Error('The warehouse is closed')
        return { orders: 12 }
      },
    })
    await escapement.start()
    site = await serve(escapement, { port: 0 })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await site?.close()
    await escapement?.close()
  })

  const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true }).first()

  it('makes a schedule by the form, sees it run, skips, breaks, resumes, retries and edits', async () => {
    const { page, complaints, close } = await visit(browser, `${site.url}/new-schedule`)
    await page.getByLabel('Name').fill('orders:sync')
    await page.getByLabel('Job', { exact: true }).fill('sync-orders')
    await page.getByRole('radio', { name: 'Another', exact: true }).check()
    await page.getByLabel('How often').fill('1 second')
    await page.getByText('Every second.', { exact: true }).waitFor()
    const previewed = region(page, 'Next times').locator('li:has(time)')
    await expect
      .poll(async () => {
        const [first, second] = await previewed.evaluateAll((rows) =>
          rows.map((row) => Date.parse(row.querySelector('time')!.dateTime)),
        )
        return [first! % 1_000, second! - first!]
      })
      .toEqual([0, 1_000])
    await page.getByText('Policies', { exact: true }).click()
    await page.getByRole('checkbox', { name: /^Take it out/ }).check()
    await page.getByLabel('Failures in a row').fill('1')
    await page.getByRole('button', { name: 'Create the schedule' }).click()
    await page.waitForURL('**/schedules/orders%3Async')
    const log = region(page, 'Run log')
    await log.getByText('succeeded').nth(1).waitFor()

    const timeline = region(page, 'Timeline')
    // Some seconds ahead, so that its time does not come before the click.
    const chip = timeline.getByRole('button', { name: /upcoming$/ }).nth(6)
    const planTime = await chip.locator('time').getAttribute('datetime')
    await timeline.locator(`button:has(time[datetime="${planTime}"])`).click()
    const detail = page.getByRole('dialog', { name: /^Plan time/ })
    await detail.getByRole('button', { name: 'Skip', exact: true }).click()
    await detail.getByText('To be skipped: an operator wishes it so.').waitFor()
    await page.keyboard.press('Escape')
    const passed = timeline.getByRole('button', { name: /\d skipped: operator$/ })
    await passed.filter({ has: page.locator(`time[datetime="${planTime}"]`) }).waitFor()
    const occurrences = await escapement.schedules.occurrences('orders:sync', {
      from: planTime!,
      to: new Date(Date.parse(planTime!) + 1).toISOString(),
    })
    expect(occurrences).toMatchObject([{ disposition: 'skipped', reason: 'operator', runId: null }])

    isClosed = true
    const standing = region(page, 'Where it stands')
    await standing.getByText('broken', { exact: true }).waitFor()
    await standing.getByText('a scheduled run failed').waitFor()
    await page.getByRole('link', { name: 'Schedules', exact: true }).click()
    const row = page.getByRole('row').filter({ hasText: 'orders:sync' })
    await row.getByText('broken', { exact: true }).waitFor()
    expect(await row.getAttribute('class')).toContain('bg-bad-tint')
    isClosed = false
    await row.getByRole('link', { name: 'orders:sync' }).click()
    await page.getByRole('button', { name: 'Resume' }).click()
    await standing.getByText('active', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Schedules', exact: true }).click()
    await row.getByText('active', { exact: true }).waitFor()
    expect(await row.getAttribute('class')).not.toContain('bg-bad-tint')

    // The one that broke it is still there.
    await page.getByRole('link', { name: 'Runs', exact: true }).click()
    await page
      .getByRole('row')
      .filter({ hasText: 'The warehouse is closed' })
      .getByRole('link')
      .first()
      .click()
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('definition').getByText('succeeded', { exact: true }).waitFor()

    await page.getByRole('link', { name: 'orders:sync' }).click()
    await page.getByRole('link', { name: 'Edit…' }).click()
    await page.getByRole('radio', { name: '6 hours', exact: true }).check()
    await page.getByRole('button', { name: 'Review and save…' }).click()
    const dialog = page.getByRole('dialog', { name: 'What this changes' })
    await dialog.getByText('Every second').waitFor()
    await dialog.getByText('Every 6 hours').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/schedules/orders%3Async')
    await region(page, 'Change log').getByText('Changed').waitFor()
    expect((await escapement.schedules.get('orders:sync')).timing).toMatchObject({
      kind: 'every',
      every: '6 hours',
    })
    expect(complaints()).toEqual([])
    await close()
  })
})
