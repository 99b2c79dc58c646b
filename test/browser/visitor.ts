import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'

const SCREENSHOTS = fileURLToPath(new URL('screenshots', import.meta.url))
/** Those that the README and the guide show; UPDATE_PICTURES=1 takes them anew. */
const PICTURES: Readonly<Record<string, string>> = {
  'overview-week-1280-light': 'overview.png',
  'schedule-lived-1280-light': 'schedule.png',
}
const PICTURE_FOLDER = fileURLToPath(new URL('../../docs/pictures', import.meta.url))

/** Somebody with a browser, who notes whatever should not happen. */
export interface Visitor {
  page: Page
  /** What went wrong since it was last asked. */
  complaints(): string[]
  close(): Promise<void>
}

const USUAL = { locale: 'en-GB', timezoneId: 'Europe/Berlin', viewport: { width: 1280, height: 900 } }

export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({ ...USUAL, ...options })
  const page = await context.newPage()
  const noted: string[] = []
  const { origin } = new URL(url)
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') noted.push(message.text())
  })
  page.on('pageerror', (error) => noted.push(String(error)))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) noted.push(`asked ${request.url()}`)
  })
  await page.goto(url)
  return { page, complaints: () => noted.splice(0), close: () => context.close() }
}

/** What axe finds that would keep somebody out. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe.run(),
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

interface Violation {
  id: string
  impact: string
  nodes: { html: string }[]
}

/** Looks at the page: it is not empty, in no width is anything wider than the window, and there are pictures, light, dark and narrow. */
export async function lookAtEveryWidth(page: Page, name: string): Promise<void> {
  expect((await page.locator('main').textContent())?.length, name).toBeGreaterThan(20)
  for (const [width, scheme] of [
    [1280, 'light'],
    [1280, 'dark'],
    [768, undefined],
    [380, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    if (scheme !== undefined) await page.emulateMedia({ colorScheme: scheme })
    // What is placed beside something else follows a moment later.
    await expect
      .poll(() => page.evaluate('document.documentElement.scrollWidth'), { message: `${name} at ${width}` })
      .toBeLessThanOrEqual(width)
    if (scheme === undefined) continue
    const height = Math.min(1_400, Number(await page.evaluate('document.documentElement.scrollHeight')))
    const taken = `${name}-${width}-${scheme}`
    const file = path.join(SCREENSHOTS, `${taken}.png`)
    await page.screenshot({ path: file, fullPage: true, clip: { x: 0, y: 0, width, height } })
    const picture = PICTURES[taken]
    if (picture !== undefined && process.env.UPDATE_PICTURES) {
      fs.mkdirSync(PICTURE_FOLDER, { recursive: true })
      fs.copyFileSync(file, path.join(PICTURE_FOLDER, picture))
    }
  }
  await page.setViewportSize(USUAL.viewport)
}
