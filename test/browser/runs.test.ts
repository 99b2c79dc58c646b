import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { openPGlite } from '../../src/store/pglite.js'
import { describe as inWords } from '../../src/time/describe.js'
import { emptyDatabase } from '../support/empty-database.js'
import { launchChromium } from './chromium.js'
import { mountSite, openSite, type Site } from './site.js'
import { lookAtEveryWidth, seriousFindings, visit } from './visitor.js'

let browser: Browser
let site: Site
beforeAll(async () => {
  const openEmbedded = async () => openSite(await openPGlite({ template: await emptyDatabase() }))
  ;[browser, site] = await Promise.all([launchChromium(), openEmbedded()])
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await site?.close()
})

/** A run that has failed, and would not fail again. */
async function failExport(): Promise<string> {
  const { runs } = site.escapement
  const failed = new Promise<string>((resolve) =>
    site.escapement.on('run.failed', ({ runId, job }) => job === 'export-orders' && resolve(runId)),
  )
  await runs.enqueue('export-orders', { customer: 'acme' }, { priority: 5, key: 'acme' })
  return failed
}

it('shows the scheduled run that broke its schedule, and what has changed since', async () => {
  await site.escapement.schedules.patch('feed:prices', { timing: every('1 hour') })
  const { page, complaints, close } = await visit(browser, `${site.url}/`)
  const failures = page.getByRole('region', { name: 'Recent failures' })
  await failures.getByRole('link', { name: 'import-feed' }).first().click()
  await page.getByRole('heading', { name: 'Run of import-feed' }).waitFor()
  await page.getByText('Changed since: timing.').waitFor()
  await page.getByText(inWords(every('1 second')), { exact: true }).waitFor()
  await page.getByRole('link', { name: 'feed:prices' }).click()
  await page.waitForURL(`${site.url}/schedules/feed%3Aprices`)
  await page.goBack()
  await page.getByText('Changed since: timing.').waitFor()
  await page.getByRole('listitem').filter({ hasText: 'timing.every' }).getByText('"1 hour"').waitFor()
  await lookAtEveryWidth(page, 'run-scheduled')
  expect(complaints()).toEqual([])
  await close()
})

it('lists runs in every width, filtered by what is in the address, and retries one as it happens', async () => {
  const id = await failExport()
  const { page, complaints, close } = await visit(browser, `${site.url}/runs`)
  const row = page.getByRole('row').filter({ hasText: id })
  await row.getByText('The warehouse is closed', { exact: true }).waitFor()
  await page.getByRole('row').filter({ hasText: 'answered 502' }).first().waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await lookAtEveryWidth(page, 'runs')
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await seriousFindings(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })

  await page.getByRole('checkbox', { name: 'Failed' }).check()
  await page.getByLabel('Trigger').selectOption('direct')
  await page.getByLabel('Ended before').fill('2026-01-01T00:00')
  await page.getByText('No run is like that.').waitFor()
  expect(new URL(page.url()).search).toBe('?state=failed&trigger=direct&to=2025-12-31T23%3A00%3A00.000Z')
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await page.getByLabel('Job').fill('export-orders')
  await page.getByText('answered 502').first().waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('?job=export-orders')

  await row.getByRole('link', { name: 'export-orders' }).click()
  await page.getByText('Opening hours').first().waitFor()
  await page.getByText('Stack', { exact: true }).click()
  await page.getByRole('region', { name: 'Stack of attempt 1' }).getByText('site.ts').waitFor()
  expect(await page.getByRole('region', { name: 'Input as JSON' }).textContent()).toBe(
    JSON.stringify({ customer: 'acme' }, null, 2),
  )
  await page.getByText(`escapement runs retry ${id}`).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await lookAtEveryWidth(page, 'run')

  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.getByRole('progressbar', { name: 'Progress' }).waitFor()
  await page.getByText('400 of 1,000 orders').waitFor()
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await seriousFindings(page)).toEqual([])
  expect(complaints()).toEqual([])

  // It ends between the look and the click, and the server refuses.
  await page.route('**/cancel', async (route) => {
    const ended = new Promise((resolve) => site.escapement.on('run.succeeded', resolve))
    site.finishExports()
    await ended
    await route.continue()
  })
  await page.getByRole('button', { name: 'Cancel the run…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel the run' })
  await dialog.getByLabel('Reason').fill('the wrong customer')
  await dialog.getByText('From a terminal').click()
  await dialog.getByText(`escapement runs cancel ${id} --reason 'the wrong customer'`).waitFor()
  await dialog.getByRole('button', { name: 'Cancel the run' }).click()
  await page.getByRole('alert').getByText('run_not_open').waitFor()
  await page.getByText('succeeded', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'Result as JSON' }).getByText('"orders": 1000').waitFor()
  expect(await page.getByRole('button', { name: /^(Retry|Cancel the run)/ }).count()).toBe(0)
  expect(complaints().filter((text) => !/status of 422/.test(text))).toEqual([])
  await close()
})

it('cancels an open run with a reason', async () => {
  const { id } = await site.escapement.runs.enqueue('send-report', null, { at: { in: '1 hour' } })
  const { page, complaints, close } = await visit(browser, `${site.url}/runs/${id}`)
  await page.getByRole('button', { name: 'Cancel the run…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel the run' })
  await dialog.getByLabel('Reason').fill('not today')
  await dialog.getByRole('button', { name: 'Cancel the run' }).click()
  await page.getByRole('definition').getByText('cancelled', { exact: true }).waitFor()
  await page.getByText('not today').waitFor()
  expect(complaints()).toEqual([])
  await close()
})

it('gives a viewer nothing to act with', async () => {
  const [failed] = await site.escapement.runs.list({ schedule: 'feed:prices' })
  const mounted = await mountSite(site, '/internal/jobs')
  const { token } = await site.escapement.tokens.create({ name: 'eve', role: 'viewer' })
  const { page, close } = await visit(browser, `${mounted.url}/runs/${failed!.id}`)
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { name: 'Run of import-feed' }).waitFor()
  await page.getByText('answered 502').first().waitFor()
  expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0)
  await close()
  await mounted.close()
})
