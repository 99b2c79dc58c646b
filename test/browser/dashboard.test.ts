import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { openPGlite } from '../../src/store/pglite.js'
import { freshSchemaName, postgresUrl } from '../support/database.js'
import { emptyDatabase } from '../support/empty-database.js'
import { launchChromium } from './chromium.js'
import { mountSite, openSite, type Site } from './site.js'
import { lookAtEveryWidth, seriousFindings, visit } from './visitor.js'

/** What the first load takes, compressed. */
const ASSET_BYTES = `performance.getEntriesByType('resource')
  .filter(({ name }) => name.includes('/assets/'))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`

/** In memory, without the seconds that it takes to make a new one. */
async function openEmbedded(): Promise<Site> {
  return openSite(await openPGlite({ template: await emptyDatabase() }))
}

let browser: Browser
let site: Site
beforeAll(async () => {
  ;[browser, site] = await Promise.all([launchChromium(), openEmbedded()])
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await site?.close()
})

describe('the dashboard', () => {
  it('shows the overview in every width and scheme, and keeps nobody out', async () => {
    const { page, complaints, close } = await visit(browser, `${site.url}/`)
    await page.getByText('Broken.', { exact: true }).waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByText('answered 502').first().waitFor()
    await page.getByRole('img', { name: /^Runs in the next hour: \d+ runs/ }).waitFor()
    await page.getByRole('cell', { name: 'alive' }).waitFor()
    const loaded = Number(await page.evaluate(ASSET_BYTES))
    expect(loaded).toBeGreaterThan(50_000)
    expect(loaded).toBeLessThan(150_000)
    expect(await seriousFindings(page)).toEqual([])
    await lookAtEveryWidth(page, 'overview')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints()).toEqual([])
    await close()
  })

  it('shows schedules in every width and scheme, and keeps nobody out', async () => {
    const { page, complaints, close } = await visit(browser, `${site.url}/schedules`)
    const broken = page.getByRole('row').filter({ hasText: 'feed:prices' })
    await broken.getByText('broken', { exact: true }).waitFor()
    await broken.getByText('a scheduled run failed').waitFor()
    await page.getByRole('cell', { name: 'At 07:30, only on Monday, Lord Howe time' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await lookAtEveryWidth(page, 'schedules')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints()).toEqual([])
    await close()
  })

  it('searches, filters and pages on the server, and keeps it in the address', async () => {
    const { page, complaints, close } = await visit(browser, `${site.url}/schedules?group=reports`)
    await page.getByText('report:customer-01').waitFor()
    expect(await page.getByRole('row').count()).toBe(51)
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByText('report:customer-56').waitFor()
    expect(page.url()).toMatch(/group=reports&pageToken=/)
    await page.reload()
    await page.getByText('report:customer-56').waitFor()
    await page.goBack()
    await page.getByText('report:customer-01').waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('customer-07')
    await page.getByText('report:customer-01').waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('?group=reports&q=customer-07')
    await page.getByRole('searchbox', { name: 'Search' }).fill('nobody')
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await page.getByText('feed:prices').waitFor()
    expect(complaints()).toEqual([])
    await close()
  })

  it('pauses claiming with a reason, says so on every page, and resumes', async () => {
    const { page, complaints, close } = await visit(browser, `${site.url}/`)
    await page.getByRole('button', { name: 'Pause claiming…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Pause claiming' })
    await dialog.getByLabel('Reason').fill("the mail server's disk")
    expect(await dialog.getByRole('code').or(dialog.locator('code')).first().textContent()).toBe(
      `escapement claiming pause --reason 'the mail server'\\''s disk'`,
    )
    // What cannot be sent is told at once, and not done by itself when the network is back.
    await page.context().setOffline(true)
    await dialog.getByRole('button', { name: 'Pause claiming' }).click()
    await dialog.getByRole('alert').getByText('server_unreachable').waitFor()
    await page.context().setOffline(false)
    expect(complaints().filter((text) => !/ERR_INTERNET_DISCONNECTED/.test(text))).toEqual([])
    await dialog.getByRole('button', { name: 'Pause claiming' }).click()
    await page.getByText('Claiming is paused: no run is begun.').first().waitFor()
    await page.getByRole('link', { name: 'Schedules' }).click()
    await page.getByText("“the mail server's disk”").waitFor()
    expect(await site.escapement.claiming.status()).toMatchObject({ paused: true, by: 'local' })
    // The page of schedules has such lines too, in dialogs that are closed.
    const banner = page.getByRole('group').filter({ hasText: 'escapement claiming resume' })
    await banner.getByText('From a terminal').click()
    await banner.getByText('escapement claiming resume').waitFor()
    await lookAtEveryWidth(page, 'claiming-paused')
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Resume claiming' }).click()
    await page.getByText('Claiming is paused').waitFor({ state: 'detached' })
    expect(await site.escapement.claiming.status()).toMatchObject({ paused: false })
    expect(complaints()).toEqual([])
    await close()
  })

  it('shows workers and jobs, and in red what nobody can do', async () => {
    await site.escapement.database.query(
      `insert into escapement.jobs (name, policies, published_at)
       select 'resize-images', policies, published_at from escapement.jobs where name = 'send-report'`,
    )
    const { page, complaints, close } = await visit(browser, `${site.url}/workers`)
    const jobs = page.getByRole('table').nth(1).getByRole('row')
    await jobs.filter({ hasText: 'send-report' }).getByText(`pid ${process.pid}`).waitFor()
    await jobs.filter({ hasText: 'resize-images' }).getByText('nobody has it').waitFor()
    expect(await page.getByText('nobody has it').count()).toBe(1)
    await page.getByRole('cell', { name: 'alive' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await lookAtEveryWidth(page, 'workers')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints()).toEqual([])
    await close()
  })

  it('shows transitions, sweeps, and says how to declare one where there is none', async () => {
    const { page, complaints, close } = await visit(browser, `${site.url}/transitions`)
    await page.getByRole('cell', { name: 'status goes from “draft” to “published”' }).waitFor()
    await page.getByLabel('Also try again what was set aside').check()
    await page.getByRole('button', { name: 'Sweep now' }).click()
    await page.getByText('Swept: 0 updated, 0 deleted, 1 set aside.').waitFor()
    await page.getByText(/violates check constraint "published_posts_have_titles"/).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await lookAtEveryWidth(page, 'transitions')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await seriousFindings(page)).toEqual([])
    await page.route('**/api/v1/transitions', (route) => route.fulfill({ json: { transitions: [] } }))
    await page.reload()
    await page.getByText('has declared no transitions').waitFor()
    expect(await page.getByRole('button', { name: 'Sweep now' }).count()).toBe(0)
    expect(await seriousFindings(page)).toEqual([])
    await lookAtEveryWidth(page, 'no-transitions')
    expect(complaints()).toEqual([])
    await close()
  })

  it('audits, shows what is found, and what the doctor would mend', async () => {
    const { page, complaints, close } = await visit(browser, `${site.url}/audit`)
    await page.getByText('escapement schedules resume feed:prices').waitFor()
    await page.route('**/api/v1/audit?*', () => {}, { times: 1 })
    await page.getByRole('button', { name: 'Audit now' }).click()
    await page.getByText('0 of 59 schedules').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped.').waitFor()
    await page.getByRole('button', { name: 'Audit now' }).click()
    await page.getByText(/ occurrences? of 59 schedules: each has one answer\.$/).waitFor()
    await site.escapement.database.query(
      `insert into escapement.skips
       select r.schedule_id, r.scope, 1, r.plan_time, r.plan_time, 'missed', r.plan_time
       from escapement.runs as r join escapement.schedules as s on s.id = r.schedule_id
       where s.name = 'feed:prices' limit 1`,
    )
    await page.getByRole('button', { name: 'Audit again' }).click()
    await page.getByText('1 found.').waitFor()
    await page
      .getByRole('row')
      .filter({ hasText: 'a scheduled run and a skip' })
      .getByText('double')
      .waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await lookAtEveryWidth(page, 'audit')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await seriousFindings(page)).toEqual([])
    expect(complaints()).toEqual([])
    await close()
  })

  it('takes a locale that Intl refuses, a switch of scheme, and an address that leads nowhere', async () => {
    const { page, complaints, close } = await visit(browser, `${site.url}/schedules/of/nothing`)
    await page.getByRole('heading', { name: 'Nothing here' }).waitFor()
    await page.addInitScript(`Object.defineProperty(navigator, 'language', { value: 'en-US@posix' })`)
    await page.goto(`${site.url}/schedules`)
    await page.getByText('feed:prices').waitFor()
    const canvas = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await canvas()
    await page.getByText('Dark', { exact: true }).click()
    expect(await canvas()).not.toBe(light)
    await page.reload()
    await page.getByText('feed:prices').waitFor()
    expect(await canvas()).not.toBe(light)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    expect(complaints()).toEqual([])

    // The code of a view is gone, as after an upgrade; the others are still there.
    await page.route('**/assets/calendar-page*', (route) => route.abort())
    await page.getByRole('link', { name: 'Calendar' }).click()
    await page.getByRole('heading', { name: 'This view cannot be shown' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.unroute('**/assets/calendar-page*')
    await page.getByRole('button', { name: 'Load it again' }).click()
    await page.getByRole('link', { name: 'From today' }).waitFor()
    complaints()
    await page.route('**/api/v1/stats', (route) => route.fulfill({ status: 403 }))
    await page.reload()
    await page.getByText('Unknown', { exact: true }).waitFor()
    await close()
  })
})

describe('with tokens, under a prefix', () => {
  it('asks for one, lets a viewer look and not act, and lets them go', async () => {
    const mounted = await mountSite(site, '/internal/jobs')
    const { token } = await site.escapement.tokens.create({ name: 'eve', role: 'viewer' })
    const { page, complaints, close } = await visit(browser, `${mounted.url}/schedules?group=feeds`)
    await page.getByLabel('Token').fill('esc_wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await lookAtEveryWidth(page, 'login')
    // The browser itself notes an answer of 401, twice.
    expect(complaints().filter((text) => !/status of 401/.test(text))).toEqual([])
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('feed:prices').waitFor()
    expect(page.url()).toBe(`${mounted.url}/schedules?group=feeds`)
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByText('eve', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Recent failures' }).waitFor()
    expect(await page.getByRole('button', { name: /claiming/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Transitions' }).click()
    await page.getByRole('rowheader', { name: 'publish_at' }).waitFor()
    expect(await page.getByRole('button', { name: 'Sweep now' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByRole('button', { name: 'Audit now' }).waitFor()
    expect(await page.getByRole('heading', { name: 'Doctor' }).count()).toBe(0)
    expect(complaints()).toEqual([])
    await page.getByRole('button', { name: 'Log out' }).click()
    const ofOne = await site.escapement.tokens.create({ name: 'fay', role: 'admin', group: 'feeds' })
    await page.getByLabel('Token').fill(ofOne.token)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('heading', { name: 'Not for one group' }).waitFor()
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
      'Overview',
      'Schedules',
      'Runs',
      'Calendar',
    ])
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Token').waitFor()
    await close()
    await mounted.close()
  })
})

describe('on PostgreSQL', () => {
  it('shows what happens as it happens', async () => {
    const schema = freshSchemaName()
    const own = await openSite(postgresUrl(), schema)
    const { page, complaints, close } = await visit(browser, `${own.url}/schedules?q=brand-new`)
    await page.getByText('No schedule is like that.').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await own.escapement.schedules.put('brand-new', { job: 'send-report', timing: every('1 day') })
    await page.getByText('brand-new', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByText('answered 502').first().waitFor()
    expect(complaints()).toEqual([])
    await close()
    await own.escapement.database.query(`drop schema "${schema}" cascade`)
    await own.close()
  })
})
