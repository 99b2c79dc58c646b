import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { once } from '../../src/index.js'
import { openPGlite } from '../../src/store/pglite.js'
import { emptyDatabase } from '../support/empty-database.js'
import { launchChromium } from './chromium.js'
import { mountSite, openSite, type Site } from './site.js'
import { lookAtEveryWidth, seriousFindings, visit } from './visitor.js'

let browser: Browser
let site: Site
beforeAll(async () => {
  const openEmbedded = async () => openSite(await openPGlite({ template: await emptyDatabase() }))
  ;[browser, site] = await Promise.all([launchChromium(), openEmbedded()])
  await fillHistory()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await site?.close()
})

/** As workers and ticks leave it: 29 runs of each of some schedules, a cancelled, an open and two failed ones among them, and a skip. */
async function fillHistory(): Promise<void> {
  const { database } = site.escapement
  await database.query(
    `with asked as (
       insert into escapement.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue,
         priority, created_at)
       select gen_random_uuid(), s.id, 'global', now() - n * interval '1 hour', 1, 'scheduled', s.job, 'null', 'nobody', 0, now()
       from escapement.schedules as s cross join generate_series(1, 29) as n where s.name < 'report:customer-09' and s.name > 'report'
       returning id, job, schedule_id, round(extract(epoch from now() - plan_time) / 3600) as n
     ),
     opened as (
       insert into escapement.runs_open (id, schedule_id, scope, job, queue, priority, state, eligible_at)
       select id, schedule_id, 'global', job, 'nobody', 0, 'pending', now() from asked where n = 1
     )
     insert into escapement.runs_ended (id, state, eligible_at, attempt, finished_at, error_code, error_message)
     select id, case when n in (7, 8) then 'failed' when n = 15 then 'cancelled' else 'succeeded' end, now(), 1, now(),
       case when n in (7, 8) then 'handler_error' end, case when n in (7, 8) then 'no answer' end
     from asked where n > 1`,
  )
  await database.query(
    `insert into escapement.skips (schedule_id, scope, schedule_version, first_plan_time, last_plan_time, reason, decided_at)
     select id, 'global', 1, now() - interval '20.5 hours', now() - interval '20.5 hours', 'missed', now()
     from escapement.schedules where name < 'report:customer-09' and name > 'report'`,
  )
}

it('shows what became of the last thirty plan times, as it happens', async () => {
  const { page, complaints, close } = await visit(browser, `${site.url}/schedules?q=report`)
  const strip = (name: string) => page.getByRole('row').filter({ hasText: name }).getByRole('img')
  const label = 'Last 30: 25 succeeded, 2 failed, 1 waiting, 1 cancelled, 1 missed'
  await strip('report:customer-02').waitFor()
  expect(await strip('report:customer-02').getAttribute('aria-label')).toBe(label)
  const titles = await strip('report:customer-02').locator('title').allTextContents()
  expect(titles[0]).toMatch(/\b\d\d:\d\d: succeeded$/)
  const became = [...Array(9).fill('succeeded'), 'missed', ...Array(5).fill('succeeded'), 'cancelled']
  became.push(...Array(6).fill('succeeded'), 'failed', 'failed', ...Array(5).fill('succeeded'), 'waiting')
  expect(titles.map((title) => title.replace(/^.*: /, ''))).toEqual(became)
  await page.getByRole('list', { name: 'What the marks mean' }).getByText('missed or skipped').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await lookAtEveryWidth(page, 'strips')
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await seriousFindings(page)).toEqual([])

  await page.getByRole('searchbox', { name: 'Search' }).fill('once')
  await page.getByText('No schedule is like that.').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await site.escapement.schedules.put('report:once', {
    job: 'send-report',
    timing: once('2026-01-01T00:00:00Z'),
  })
  await page.getByRole('img', { name: 'Last 1: 1 succeeded' }).waitFor()
  expect(complaints()).toEqual([])
  await close()
})

it('pauses and resumes what the filter finds, after it has counted', async () => {
  const { page, complaints, close } = await visit(browser, `${site.url}/schedules`)
  await page.getByRole('button', { name: 'Pause these…' }).click()
  const pausing = page.getByRole('dialog', { name: 'Pause schedules' })
  await pausing.getByText('All schedules.').waitFor()
  await pausing.getByText('From a terminal').click()
  await pausing.getByText('escapement schedules pause --all').waitFor()
  await pausing.getByText(/^5\d will be paused\./).waitFor()
  await pausing.getByRole('button', { name: 'Leave it' }).click()

  await page.getByRole('searchbox', { name: 'Search' }).fill('customer')
  await page.getByLabel('State').selectOption('active')
  await page.getByText('digest:weekly').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Pause these…' }).click()
  await pausing.getByText('The schedules with the words “customer”, in the state “active”').waitFor()
  await pausing.getByText(/^56 will be paused\./).waitFor()
  await pausing.getByLabel('Reason').fill('their disk')
  await pausing.getByText('From a terminal').click()
  await pausing
    .getByText(`escapement schedules pause --search 'customer' --state 'active' --reason 'their disk'`)
    .waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await lookAtEveryWidth(page, 'pause-these')
  await pausing.getByRole('button', { name: 'Pause 56' }).click()
  await page.getByRole('status').getByText('56 schedules were paused.').waitFor()
  await page.getByText('No schedule is like that.').waitFor()
  expect((await site.escapement.schedules.get('report:customer-56')).stateNote).toMatchObject({
    reason: 'their disk',
    by: 'local',
  })
  expect((await site.escapement.schedules.get('digest:weekly')).state).toBe('active')

  await page.getByLabel('State').selectOption('paused')
  await page.getByText('their disk').first().waitFor()
  expect(await page.getByRole('button', { name: 'Pause these…' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Resume these…' }).click()
  await page
    .getByRole('dialog', { name: 'Resume schedules' })
    .getByRole('button', { name: 'Resume 56' })
    .click()
  await page.getByRole('status').getByText('56 schedules were resumed.').waitFor()
  expect(complaints()).toEqual([])
  await close()
})

it('lists runs in several states, leads to their schedules, and retries those that failed', async () => {
  const { runs } = site.escapement
  const failed = new Promise<void>((resolve) => {
    let count = 0
    site.escapement.on('run.failed', ({ job }) => job === 'export-orders' && ++count === 2 && resolve())
  })
  await runs.enqueueMany('export-orders', [{ input: 1 }, { input: 2 }])
  await failed
  const { page, complaints, close } = await visit(browser, `${site.url}/runs`)
  await page.getByRole('link', { name: 'report:customer-08' }).first().waitFor()
  await page.getByRole('checkbox', { name: 'Cancelled' }).check()
  await page.getByRole('checkbox', { name: 'Failed' }).check()
  await page.getByRole('row').filter({ hasText: 'The warehouse is closed' }).first().waitFor()
  expect(new URL(page.url()).search).toBe('?state=failed%2Ccancelled')
  await page.getByRole('columnheader', { name: 'Ended' }).waitFor()
  await page.getByRole('button', { name: 'Retry the failed ones…' }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await lookAtEveryWidth(page, 'runs-in-states')
  await page.getByRole('checkbox', { name: 'Cancelled' }).uncheck()
  await page.getByLabel('Job').fill('export-orders')
  await page.waitForURL(`${site.url}/runs?state=failed&job=export-orders`)
  await page.getByRole('button', { name: 'Retry these…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Retry failed runs' })
  await dialog.getByText('From a terminal').click()
  await dialog.getByText(`escapement runs retry --failed --job 'export-orders'`).waitFor()
  await dialog.getByText(`curl --json '{"job":"export-orders"}' '${site.url}/api/v1/runs/retry'`).waitFor()
  await dialog.getByRole('button', { name: 'Retry', exact: true }).click()
  await page.getByRole('status').getByText('2 runs are tried again.').waitFor()
  await page.getByText('No run is like that.').waitFor()
  expect(await runs.search({ job: 'export-orders', state: 'failed' })).toMatchObject({ runs: [] })
  expect(complaints()).toEqual([])
  await close()
})

it('gives a viewer no way to act on many', async () => {
  const mounted = await mountSite(site, '/internal/jobs')
  const { token } = await site.escapement.tokens.create({ name: 'eve', role: 'viewer' })
  const { page, close } = await visit(browser, `${mounted.url}/runs?state=failed`)
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByText('answered 502').first().waitFor()
  expect(await page.getByRole('button', { name: /^Retry/ }).count()).toBe(0)
  await page.getByRole('link', { name: 'Schedules' }).click()
  await page.getByText('feed:prices').waitFor()
  expect(await page.getByRole('button', { name: /these…$/ }).count()).toBe(0)
  await close()
  await mounted.close()
})
