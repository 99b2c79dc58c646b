import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createEscapement, type Escapement } from '../../src/escapement.js'
import { after, cron, every } from '../../src/index.js'
import { serve } from '../../src/server/serve.js'
import { openPGlite } from '../../src/store/pglite.js'
import { describe as inWords } from '../../src/time/describe.js'
import { emptyDatabase } from '../support/empty-database.js'
import { launchChromium } from './chromium.js'
import { lookAtEveryWidth, seriousFindings, visit } from './visitor.js'

/** Half a day from now, so that it does not come while somebody looks. */
const HOUR_UTC = (new Date().getUTCHours() + 12) % 24
const HOUR = (HOUR_UTC + 9) % 24
const TIMING = cron(`0 ${HOUR} * * *`, { zone: 'Asia/Tokyo' })
const CLOCK = `${String(HOUR).padStart(2, '0')}:00`
const DAY_MS = 86_400_000
/** Its plan time on the day (of UTC) so many days ago. */
const planTime = (days: number) =>
  new Date((Math.floor(Date.now() / DAY_MS) - days) * DAY_MS + HOUR_UTC * 3_600_000)

interface Site {
  escapement: Escapement
  url: string
  /** Whether the feed answers. */
  feed: { isUp: boolean }
  /** Lets the runs of `copy-contacts` end. */
  finishCopying(): void
  close(): Promise<void>
}

async function openSite(): Promise<Site> {
  const escapement = await createEscapement({
    database: await openPGlite({ template: await emptyDatabase() }),
  })
  const feed = { isUp: false }
  let finishCopying = () => {}
  const copied = new Promise<void>((resolve) => {
    finishCopying = resolve
  })
  escapement.job('send-report', { handler: ({ totals }) => totals({ rows: 1_200, mails: 3 }) })
  escapement.job('import-feed', {
    retry: { attempts: 1 },
    handler() {
      if (!feed.isUp) throw new Error('The feed answered 502\nBad Gateway')
    },
  })
  escapement.job('copy-contacts', {
    async handler({ progress }) {
      progress(0.4, '400 of 1,000 contacts')
      await copied
    },
  })
  await putSchedules(escapement)
  await escapement.start()
  const server = await serve(escapement, { port: 0 })
  return {
    escapement,
    url: server.url,
    feed,
    finishCopying,
    async close() {
      finishCopying()
      await server.close()
      await escapement.close()
    },
  }
}

async function putSchedules({ schedules, database }: Escapement): Promise<void> {
  await schedules.put('report:acme', {
    job: 'send-report',
    description: 'The daily report, to everybody at Acme who wants it',
    group: 'reports',
    input: { customer: 'acme', secret: 'hunter2' },
    metadata: { owner: 'ann' },
    timing: TIMING,
    startAt: planTime(10),
    breaker: { failures: 5, cooldown: '1 hour' },
    overlap: 'skip',
  })
  await schedules.patch('report:acme', { input: { customer: 'acme', secret: 'hunter3' }, grace: '5 minutes' })
  // As if it had been there for longer, and paused for three days.
  await database.query(`update escapement.schedules set ledger_from = $1 where name = 'report:acme'`, [
    planTime(10),
  ])
  await database.query(
    `insert into escapement.skips (schedule_id, scope, schedule_version, first_plan_time, last_plan_time, reason, decided_at)
     select id, 'global', version, $1, $2, 'paused', now() from escapement.schedules where name = 'report:acme'`,
    [planTime(4), planTime(2)],
  )
  await schedules.put('feed:prices', {
    job: 'import-feed',
    timing: every('1 second'),
    breaker: { failures: 1 },
    paused: true,
  })
  await schedules.put('contacts', { job: 'copy-contacts', timing: after('1 hour') })
}

let browser: Browser
let site: Site
beforeAll(async () => {
  ;[browser, site] = await Promise.all([launchChromium(), openSite()])
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await site?.close()
})

const addressOf = (name: string) => `${site.url}/schedules/${encodeURIComponent(name)}`
const logOf = (page: Page) => page.getByRole('region', { name: 'Run log' }).first()

it('tells all about a schedule in every width and scheme, and keeps nobody out', async () => {
  const { page, complaints, close } = await visit(browser, addressOf('report:acme'))
  await page.getByRole('heading', { level: 1, name: 'report:acme' }).waitFor()
  await page.getByText(inWords(TIMING), { exact: true }).waitFor()
  await page.getByText('Taken out after 5 failures in a row, and tried again after 1 hour').waitFor()
  await page.getByText('Of plan times that were missed the newest runs (by default)').waitFor()
  const skipped = logOf(page).getByRole('row').filter({ hasText: 'skipped' })
  await skipped.getByText('paused', { exact: true }).last().waitFor()
  const changes = page.getByRole('region', { name: 'Change log' })
  await changes
    .getByRole('listitem')
    .filter({ hasText: 'input.secret' })
    .last()
    .getByText('"hunter3"')
    .waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await lookAtEveryWidth(page, 'schedule')
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await seriousFindings(page)).toEqual([])

  const next = page.getByRole('region', { name: 'Where it stands' })
  expect(await next.textContent()).toMatch(/Next run: in .*:00 (CET|CEST|GMT\+[12])$/)
  await page.getByLabel('Asia/Tokyo').check()
  await next.getByText(`${CLOCK} GMT+9`).waitFor()
  expect(await skipped.getByRole('rowheader').textContent()).toMatch(
    new RegExp(`${CLOCK}:00 – .*${CLOCK}:00`),
  )
  expect(new URL(page.url()).search).toBe('?zone=own')
  await page.reload()
  await next.getByText(`${CLOCK} GMT+9`).waitFor()
  expect(complaints()).toEqual([])
  await close()
})

it('triggers with other input, pauses with a note, resumes, and backfills what it first shows', async () => {
  const { page, complaints, close } = await visit(browser, addressOf('report:acme'))
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Trigger…' }).click()
  const trigger = page.getByRole('dialog', { name: 'Trigger report:acme' })
  await trigger.getByLabel('Input').fill('{customer}')
  await trigger.getByText(/^Is no JSON/).waitFor()
  expect(await trigger.getByRole('button', { name: 'Run it now' }).isDisabled()).toBe(true)
  await trigger.getByLabel('Input').fill('{"customer":"beta"}')
  await trigger.getByText('From a terminal').click()
  await trigger.getByText(`escapement schedules trigger report:acme --input '{"customer":"beta"}'`).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await trigger.getByRole('button', { name: 'Run it now' }).click()
  const asked = page.getByRole('status').getByRole('link')
  const id = await asked.textContent()
  const [run] = await site.escapement.runs.list({ schedule: 'report:acme' })
  expect(id).toBe(run!.id)
  expect(run).toMatchObject({ trigger: 'manual', input: { customer: 'beta' } })
  const row = logOf(page).getByRole('row').filter({ hasText: 'manual' })
  await row.getByText('succeeded').waitFor()
  await row.getByText('rows 1,200, mails 3').last().waitFor()
  await page.getByText('On this page: 1 run, in total rows 1,200, mails 3').waitFor()

  await page.getByRole('button', { name: 'Pause…' }).click()
  const pause = page.getByRole('dialog', { name: 'Pause report:acme' })
  await pause.getByLabel('Reason').fill('their API is down')
  await pause.getByLabel('Until').selectOption('one hour from now')
  await pause.getByText('From a terminal').click()
  await pause.getByText(`pause report:acme --reason 'their API is down' --until '1 hour'`).waitFor()
  await pause.getByRole('button', { name: 'Pause it' }).click()
  const standing = page.getByRole('region', { name: 'Where it stands' })
  await standing.getByText('their API is down').waitFor()
  expect(await standing.textContent()).toMatch(/by local, since .*, until .*\(in (1 h|59 min)/)
  expect(await page.getByText('Next run').count()).toBe(0)
  // The button that was pressed is gone, and the focus is not.
  await page.locator('main:focus').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await standing.getByText('Next run').waitFor()

  await page.getByRole('button', { name: 'Backfill…' }).click()
  const backfill = page.getByRole('dialog', { name: 'Backfill report:acme' })
  expect(await backfill.getByRole('button', { name: 'Run these' }).isDisabled()).toBe(true)
  const twoDaysBefore = planTime(6).toISOString().slice(0, 'yyyy-mm-dd'.length)
  await backfill.getByLabel('From').fill(`${twoDaysBefore}T00:00`)
  await backfill.getByRole('button', { name: 'Look which' }).click()
  await backfill.getByText('3 plan times would run:').waitFor()
  expect(await backfill.getByRole('list').getByRole('listitem').count()).toBe(3)
  expect(await seriousFindings(page)).toEqual([])
  await lookAtEveryWidth(page, 'schedule-backfill')
  expect(await site.escapement.runs.list({ schedule: 'report:acme' })).toHaveLength(1)
  await backfill.getByRole('button', { name: 'Run these 3' }).click()
  await page.getByRole('status').getByText('3 runs were made.').waitFor()
  await logOf(page).getByRole('row').filter({ hasText: 'backfill' }).nth(2).waitFor()
  const changes = page.getByRole('region', { name: 'Change log' })
  await changes.getByText('Backfilled 3 runs').waitFor()
  expect(complaints()).toEqual([])
  await close()
})

it('turns red when it breaks, says why, and is itself again when it is resumed', async () => {
  const { page, complaints, close } = await visit(browser, addressOf('feed:prices'))
  const standing = page.getByRole('region', { name: 'Where it stands' })
  await standing.getByText('paused', { exact: true }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await standing.getByText('broken', { exact: true }).waitFor()
  await standing.getByText('a scheduled run failed').waitFor()
  await standing.getByText(/Resuming clears this/).waitFor()
  await logOf(page)
    .getByRole('row')
    .filter({ hasText: 'failed' })
    .getByText('The feed answered 502', { exact: true })
    .waitFor()
  await page.getByRole('region', { name: 'Change log' }).getByText('Taken out after failures').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await lookAtEveryWidth(page, 'schedule-broken')
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await seriousFindings(page)).toEqual([])
  site.feed.isUp = true
  await page.getByRole('button', { name: 'Resume' }).click()
  await standing.getByText('active', { exact: true }).waitFor()
  await logOf(page).getByRole('row').filter({ hasText: 'succeeded' }).first().waitFor()
  await site.escapement.schedules.pause('feed:prices')
  await standing.getByText('without a reason').waitFor()
  expect(complaints()).toEqual([])
  await close()
})

it('shows the run that it waits for, and tells what is refused while that is open', async () => {
  const { page, complaints, close } = await visit(browser, addressOf('contacts'))
  await page.getByText('Live', { exact: true }).waitFor()
  const id = await site.escapement.schedules.trigger('contacts')
  const running = page.getByRole('link', { name: 'running…' })
  expect(await running.getAttribute('href')).toBe(`/runs/${id}`)
  await page.getByText('400 of 1,000 contacts').waitFor()
  await page.getByRole('button', { name: 'Trigger…' }).click()
  await page.getByRole('button', { name: 'Run it now' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('run_open').waitFor()
  await alert.getByText('cancel it first').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await seriousFindings(page)).toEqual([])
  await lookAtEveryWidth(page, 'schedule-refused')

  await page.getByRole('button', { name: 'Rename…' }).click()
  await page.getByLabel('New name').fill('report:acme')
  await page.getByRole('button', { name: 'Rename it' }).click()
  await alert.getByText('schedule_exists').waitFor()
  await page.getByRole('button', { name: 'Rename…' }).click()
  await page.getByLabel('New name').fill('contacts:crm')
  await page.getByRole('button', { name: 'Rename it' }).click()
  await page.getByRole('heading', { level: 1, name: 'contacts:crm' }).waitFor()
  expect(page.url()).toBe(addressOf('contacts:crm'))
  await running.waitFor()
  site.finishCopying()
  await page.getByText('Next run: in').waitFor()

  await page.getByRole('button', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete contacts:crm' })
  await dialog.getByLabel(/^Delete its runs too/).check()
  expect(await dialog.getByRole('button', { name: 'Delete it' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Type its name').fill('contacts:crm')
  await dialog.getByRole('button', { name: 'Delete it' }).click()
  await page.getByRole('heading', { name: 'Schedules' }).waitFor()
  await page.getByText('report:acme').waitFor()
  expect(await site.escapement.schedules.list()).toHaveLength(2)
  expect(complaints().filter((text) => !/status of 409/.test(text))).toEqual([])
  await close()
})

it('says of a name that there is no such schedule, whatever it holds', async () => {
  const { page, close } = await visit(browser, addressOf('a/b%2F 100% 🎉'))
  await page.getByText('There is no schedule “a/b%2F 100% 🎉”.').waitFor()
  await page.goto(`${site.url}/schedules/100%`)
  await page.getByText('There is no schedule “100%”.').waitFor()
  await lookAtEveryWidth(page, 'schedule-missing')
  await page.getByRole('link', { name: 'Look among all schedules' }).click()
  await page.getByText('report:acme').waitFor()
  await close()
})

it('gives a viewer nothing to act with, and says what is hidden', async () => {
  const server = await serve(site.escapement, { port: 0, redact: ['secret'] })
  const { token } = await site.escapement.tokens.create({ name: 'eve', role: 'viewer' })
  const { page, close } = await visit(browser, `${server.url}/schedules/report%3Aacme`)
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByText('Where it says “[redacted]”, a value is hidden').waitFor()
  await page.getByRole('region', { name: 'Change log' }).getByText('Backfilled 3 runs').waitFor()
  expect(await page.getByRole('button', { name: /…$|Resume/ }).count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Edit…' }).count()).toBe(0)

  for (let text = 1; text <= 26; text++) {
    await site.escapement.schedules.patch('report:acme', { description: `Text ${text}` })
  }
  const pages = page.getByRole('navigation', { name: 'Pages of the change log' })
  await pages.getByRole('link', { name: 'Next page' }).click()
  await page.getByRole('region', { name: 'Change log' }).getByText('Created', { exact: true }).waitFor()
  await page.goto(`${server.url}/schedules/report%3Aacme?runsPage=old`)
  await page.getByRole('alert').waitFor()
  await page.getByRole('link', { name: 'First page' }).click()
  await logOf(page).getByRole('row').filter({ hasText: 'manual' }).waitFor()
  await close()
  await server.close()
})
