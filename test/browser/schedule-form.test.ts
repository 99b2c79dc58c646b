import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { createEscapement, type Escapement } from '../../src/escapement.js'
import { cron, every } from '../../src/index.js'
import { serve } from '../../src/server/serve.js'
import { openPGlite } from '../../src/store/pglite.js'
import { previewOccurrences } from '../../src/time/preview.js'
import { emptyDatabase } from '../support/empty-database.js'
import { launchChromium } from './chromium.js'
import { lookAtEveryWidth, seriousFindings, visit } from './visitor.js'

let browser: Browser
let escapement: Escapement
let site: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  ;[browser, escapement] = await Promise.all([launchChromium(), openEmbedded()])
  site = await serve(escapement, { port: 0 })
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await site?.close()
  await escapement?.close()
})

async function openEmbedded(): Promise<Escapement> {
  const opened = await createEscapement({ database: await openPGlite({ template: await emptyDatabase() }) })
  opened.job('send-report', {
    input: z.object({ customer: z.string(), copies: z.int().optional() }),
    handler: () => ({ sent: true }),
  })
  await opened.start()
  return opened
}

const choose = (page: Page, kind: string) => page.getByRole('radio', { name: kind, exact: true }).check()
const mistakeOf = (page: Page, label: string) =>
  page
    .getByLabel(label, { exact: true })
    .getAttribute('aria-describedby')
    .then((id) => page.locator(`[id="${id}"] .text-bad`))
/** From the top: what is pinned would else be drawn in the middle. */
async function look(page: Page, name: string): Promise<void> {
  await page.evaluate('scrollTo(0, 0)')
  await lookAtEveryWidth(page, name)
}
const previewed = (page: Page) =>
  page
    .getByRole('region', { name: 'Next times' })
    .locator('li:has(time)')
    .evaluateAll((rows) =>
      rows.map((row) => [row.querySelector('time')!.dateTime, row.querySelector('.text-warn')!.textContent]),
    )

it('creates a schedule by a cron in another zone, as it was typed, with the times that the library says', async () => {
  const { page, complaints, close } = await visit(browser, `${site.url}/schedules`)
  await page.getByText('No schedules yet.').waitFor()
  await page.getByRole('link', { name: 'New schedule' }).first().click()
  await page.getByRole('heading', { name: 'New schedule' }).waitFor()
  await page.getByLabel('Name').fill('report:acme')
  await page.getByLabel('Job', { exact: true }).fill('send-reports')
  await page.getByText('No worker has told of a job of that name').waitFor()
  await page.getByLabel('Job', { exact: true }).fill('send-report')
  await page.getByText('One living worker has it.').waitFor()

  await choose(page, 'Cron')
  await page.getByLabel('Expression').fill('30 62 * 3 SUN#2')
  await (await mistakeOf(page, 'Expression')).getByText('hour 62 is out of range 0–23').waitFor()
  await page.getByText('They are shown when the timing is right.').waitFor()
  await page.getByLabel('Expression').fill('30 2 * 3 SUN#2')
  await page.getByLabel('Time zone').fill('America/New_Yorck')
  await (await mistakeOf(page, 'Time zone')).getByText('did you mean "America/New_York"?').waitFor()
  await page.getByLabel('Time zone').fill('America/New_York')
  // The clocks there go forward in that very hour, every year.
  const timing = cron('30 2 * 3 SUN#2', { zone: 'America/New_York' })
  const { occurrences, description } = previewOccurrences(timing, { after: Date.now(), count: 10 })
  await page.getByText(occurrences[9]!.note!).waitFor()
  expect(await previewed(page)).toEqual(occurrences.map(({ planTime, note }) => [planTime, note]))
  expect(occurrences[0]!.note).toContain('does not exist')
  await page.getByText(`${description}.`, { exact: true }).waitFor()

  await page.getByLabel('Input as JSON').fill('{\n  "customer": acme\n}')
  await (await mistakeOf(page, 'Input as JSON')).getByText('line 2, column 15').waitFor()
  await page.getByLabel('Input as JSON').fill('{ "copies": 1.5 }')
  await (await mistakeOf(page, 'Input as JSON'))
    .getByText('customer is missing; copies must be integer')
    .waitFor()
  await page.getByText('Policies', { exact: true }).click()
  await page.getByRole('radio', { name: /^Skip the new one/ }).check()
  await page.getByLabel('Grace').fill('five minutes')
  await page.getByText('Something in here is wrong.').waitFor()
  await page.getByLabel('Grace').fill('5 minutes')
  await page
    .getByText('Skipped while an earlier run is open. On time is what is less than 5 minutes late.')
    .waitFor()
  await page
    .getByText(
      `escapement schedules put report:acme --job send-report --cron '30 2 * 3 SUN#2' --zone America/New_York`,
    )
    .waitFor()
  expect(complaints()).toEqual([])

  // The server is the judge.
  await page.getByRole('button', { name: 'Create the schedule' }).click()
  await page.getByRole('alert').getByText('input.customer').waitFor()
  await page.locator('[aria-invalid="true"]:focus').waitFor()
  await page.getByLabel('Input as JSON').fill('{ "customer": "acme" }')
  await page.getByText('It fits what the job takes.').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await look(page, 'new-schedule-cron')
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await seriousFindings(page)).toEqual([])
  // What was typed outlives a reload.
  await page.reload()
  await page.getByText('Here is what you had typed before and not saved.').waitFor()
  await page.getByRole('button', { name: 'Create the schedule' }).click()
  await page.waitForURL('**/schedules/report%3Aacme')
  expect(await escapement.schedules.get('report:acme')).toMatchObject({
    version: 1,
    state: 'active',
    job: 'send-report',
    input: { customer: 'acme' },
    timing,
    overlap: 'skip',
    grace: '5 minutes',
    catchUp: 'latest',
  })
  expect(complaints().filter((text) => !/status of 422/.test(text))).toEqual([])
  await close()
})

it('creates one that fires, and refuses a name that is taken', async () => {
  await escapement.schedules.put('taken', {
    job: 'send-report',
    input: { customer: 'acme' },
    timing: every('1 day'),
  })
  const { page, complaints, close } = await visit(browser, `${site.url}/new-schedule`)
  await page.getByLabel('Name').fill('taken')
  await page.getByLabel('Job', { exact: true }).fill('send-report')
  await page.getByLabel('Input as JSON').fill('{ "customer": "beta" }')
  await choose(page, 'Another')
  await page.getByLabel('How often').fill('1 second')
  await page.getByRole('button', { name: 'Create the schedule' }).click()
  await page.getByRole('alert').getByText('there is a schedule "taken" already').waitFor()
  await (await mistakeOf(page, 'Name')).getByText('already').waitFor()
  expect(complaints().filter((text) => !/status of 409/.test(text))).toEqual([])
  await page.getByLabel('Name').fill('report:beta')
  const ran = new Promise<string | null>((resolve) =>
    escapement.on('run.succeeded', ({ schedule }) => resolve(schedule)),
  )
  await page.getByRole('button', { name: 'Create the schedule' }).click()
  await page.waitForURL('**/schedules/report%3Abeta')
  expect(await ran).toBe('report:beta')
  await page.getByRole('table').getByText('succeeded').first().waitFor()
  await escapement.schedules.pause('report:beta')
  await close()
})

it('shows every kind of timing in every width, by keyboard', async () => {
  const { page, complaints, close } = await visit(browser, `${site.url}/new-schedule`)
  await choose(page, 'Off')
  await page.getByText('It is made paused').waitFor()
  await page.getByText('Every hour.', { exact: true }).waitFor()
  await page.getByRole('radio', { name: 'Interval' }).focus()
  await page.keyboard.press('ArrowRight')
  expect(await page.getByRole('radio', { name: 'Calendar' }).isChecked()).toBe(true)
  await page.getByLabel('Every', { exact: true }).fill('2')
  await page.getByRole('checkbox', { name: 'Friday' }).check()
  await page.getByLabel('At', { exact: true }).fill('09:00, 17:30')
  await (await mistakeOf(page, 'At')).getByText('combines all its hours').waitFor()
  await page.getByLabel('At', { exact: true }).fill('09:00, 17:00')
  await page.getByText('Every 2 weeks on Monday and Friday at 09:00 and 17:00, Berlin time.').waitFor()
  await look(page, 'new-schedule-calendar')
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('checkbox', { name: /^Type the rule myself/ }).check()
  expect(await page.getByLabel('Rule', { exact: true }).inputValue()).toBe(
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;BYHOUR=9,17;BYMINUTE=0',
  )

  await choose(page, 'Once')
  await page.getByLabel('At', { exact: true }).fill('2099-12-01T09:00')
  await page.getByLabel('Time zone').fill('Asia/Tokyo')
  await page.getByText('Once, on 1 December 2099 at 09:00, Tokyo time.').waitFor()
  await page.getByText('Tue, 1 Dec 2099, 01:00').waitFor()
  await page.setViewportSize({ width: 380, height: 900 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(380)
  await choose(page, 'After completion')
  await page.getByText('1 hour after the last run has ended.').waitFor()
  await page.getByText('each later one follows the end of the run before it').waitFor()
  await page.getByText('Policies', { exact: true }).click()
  await page.getByRole('checkbox', { name: /^Take it out/ }).check()
  await page.getByText('Queue, scopes and metadata').click()
  await look(page, 'new-schedule-after')
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await seriousFindings(page)).toEqual([])
  expect(complaints()).toEqual([])
  await close()
})

it('shows what an edit changes before it is saved, and what somebody else has changed meanwhile', async () => {
  const { schedules } = escapement
  const timing = cron('0 9 * * MON-FRI', { zone: 'Europe/Paris' })
  await schedules.put('digest', { job: 'send-report', input: { customer: 'acme' }, timing, group: 'reports' })
  const { page, complaints, close } = await visit(browser, `${site.url}/schedules/digest`)
  await page.getByRole('link', { name: 'Edit…' }).click()
  await page.getByRole('heading', { name: 'Edit digest' }).waitFor()
  await page.getByLabel('Expression').fill('0 10 * * MON-FRI')
  await page.getByLabel('Group').fill('')
  await page.getByText("escapement schedules patch digest --cron '0 10 * * MON-FRI'").waitFor()
  const open = () => page.getByRole('button', { name: 'Review and save…' }).click()
  await open()
  const dialog = page.getByRole('dialog', { name: 'What this changes' })
  await dialog.getByText('Of its next plan times: 10 moved').waitFor()
  await dialog.getByText('At 09:00, Monday to Friday, Paris time').waitFor()
  await dialog.getByText('At 10:00, Monday to Friday, Paris time').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await look(page, 'edit-schedule-diff')

  // Somebody is quicker by the time it takes to click.
  await page.route('**/api/v1/schedules/digest', async (route) => {
    if (route.request().method() === 'PATCH') {
      await schedules.patch('digest', { description: 'The digest', timing: every('1 day') })
    }
    await route.continue()
  })
  await dialog.getByRole('button', { name: 'Save' }).click()
  const conflict = page.getByRole('alert').filter({ hasText: 'Somebody else has edited it meanwhile.' })
  await conflict.getByText('The digest').waitFor()
  await conflict.getByText('You have changed timing too').waitFor()
  await page.unroute('**/api/v1/schedules/digest')
  expect(complaints().filter((text) => !/status of 412/.test(text))).toEqual([])
  expect(await seriousFindings(page)).toEqual([])
  await look(page, 'edit-schedule')
  await conflict.getByRole('button', { name: /^Go on with theirs/ }).click()
  await conflict.waitFor({ state: 'detached' })
  expect(await page.getByLabel('Expression').inputValue()).toBe('0 10 * * MON-FRI')
  expect(await page.getByLabel('Description').inputValue()).toBe('The digest')
  await open()
  await dialog.getByText('Every day, counted from').waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/schedules/digest')
  expect(await schedules.get('digest')).toMatchObject({
    version: 3,
    description: 'The digest',
    group: null,
    input: { customer: 'acme' },
    timing: cron('0 10 * * MON-FRI', { zone: 'Europe/Paris' }),
  })
  expect(complaints()).toEqual([])
  await close()
})

it('tells an operator that it takes an admin', async () => {
  await escapement.tokens.create({ name: 'ann', role: 'admin' })
  const { token } = await escapement.tokens.create({ name: 'ben', role: 'operator' })
  const { page, close } = await visit(browser, `${site.url}/schedules/any/edit`)
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByText('To edit a schedule takes the role “admin”').waitFor()
  await page.getByRole('link', { name: 'look at the schedules' }).click()
  await page.getByRole('heading', { name: 'Schedules' }).waitFor()
  expect(await page.getByRole('link', { name: 'New schedule' }).count()).toBe(0)
  await close()
})
