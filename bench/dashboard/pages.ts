/** Each page in a real Chromium, which has never been here: what is sent, when something is seen, and when it can be used. */
import type { Browser } from 'playwright-core'
import { launchChromium } from '../../test/browser/chromium.js'
import { inEnglish, spread } from '../figures.js'
import type { Known } from './calls.js'
import type { RunningServer } from './database.js'
import { BUSY } from './fill.js'

interface PageLoad {
  name: string
  path: string
  /** What is there as soon as the page shows what it is for. */
  content: string
}

const pagesOf = ({ run, schedule }: Known): PageLoad[] => [
  { name: 'overview', path: '/', content: 'main dl' },
  { name: 'schedules', path: '/schedules', content: 'main tbody tr' },
  { name: 'schedules, one word', path: '/schedules?q=warehouse', content: 'main tbody tr' },
  { name: 'one schedule', path: `/schedules/${encodeURIComponent(schedule)}`, content: 'main section' },
  {
    name: 'one with 100,000 runs',
    path: `/schedules/${encodeURIComponent(BUSY[0])}`,
    content: 'main section',
  },
  { name: 'new schedule', path: '/new-schedule', content: 'main form' },
  { name: 'calendar', path: '/calendar', content: 'main table' },
  { name: 'tokens', path: '/tokens', content: 'main tbody tr' },
  { name: 'runs', path: '/runs', content: 'main tbody tr' },
  { name: 'runs that failed', path: '/runs?state=failed', content: 'main tbody tr' },
  { name: 'one run', path: `/runs/${run}`, content: 'main dl' },
  { name: 'transitions', path: '/transitions', content: 'main section' },
  { name: 'workers', path: '/workers', content: 'main tbody tr' },
  { name: 'audit', path: '/audit', content: 'main button' },
]

const TIMES = 10
const PATIENCE_MS = 60_000
const BUDGET = { interactiveMs: 1_000, bytes: 250_000 }

interface Visit {
  /** First contentful paint, in milliseconds since the page was asked for; so in the others. */
  painted: number
  /** Heading and content are there. */
  shown: number
  /** They are, and no long task is under way: whoever clicks is answered. */
  interactive: number
  /** Everything is there: nothing is being read any more. */
  whole: number
  /** What long tasks took beyond their first 50 ms. */
  blocked: number
  bytes: number
}

/** Prints a table. Returns what is over budget. */
export async function benchPages(
  server: RunningServer,
  known: Known,
  print: (line: string) => void,
): Promise<string[]> {
  const browser = await launchChromium()
  const pages = pagesOf(known)
  const visits = new Map<PageLoad, Visit[]>(pages.map((page) => [page, []]))
  try {
    for (let round = 0; round <= TIMES; round++) {
      for (const page of pages) {
        if (!visits.has(page)) continue
        const visited = await visit(browser, server, page)
        if (visited === null) visits.delete(page)
        // The first warms up the browser and the server.
        else if (round > 0) visits.get(page)!.push(visited)
      }
    }
  } finally {
    await browser.close()
  }
  print(
    '| page | first paint | content | interactive | all there | blocked | kB |\n| --- | --- | --- | --- | --- | --- | --- |',
  )
  const over: string[] = []
  for (const [{ name }, all] of visits) {
    const of = (figure: keyof Visit) => all.map((one) => one[figure])
    const times = (['painted', 'shown', 'interactive', 'whole', 'blocked'] as const).map((figure) =>
      spread(of(figure)),
    )
    print(`| ${[name, ...times, spread(of('bytes').map((bytes) => bytes / 1000))].join(' | ')} |`)
    if (median(of('interactive')) > BUDGET.interactiveMs)
      over.push(`${name}: interactive after ${inEnglish(median(of('interactive')))} ms`)
    if (median(of('bytes')) > BUDGET.bytes) over.push(`${name}: ${inEnglish(median(of('bytes')))} bytes`)
  }
  return over
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Null where there is no such page yet. */
async function visit(
  browser: Browser,
  { url, token }: RunningServer,
  { path, content }: PageLoad,
): Promise<Visit | null> {
  const context = await browser.newContext({
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    viewport: { width: 1280, height: 900 },
  })
  try {
    await context.request.post(`${url}/api/v1/session`, { data: { token }, headers: { origin: url } })
    const page = await context.newPage()
    let bytes = 0
    const network = await context.newCDPSession(page)
    await network.send('Network.enable')
    network.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await page.addInitScript({ content: watch(content) })
    await page.goto(`${url}${path}`)
    const isWhole = await page.evaluate<boolean | null>('watched.isWhole')
    if (isWhole === null) return null
    if (!isWhole) throw new Error(`${path} holds no "${content}", or is still being read`)
    return { ...(await page.evaluate<Omit<Visit, 'bytes'>>(FIGURES)), bytes }
  } finally {
    await context.close()
  }
}

/** Notes in the page itself when it first holds what it should. */
const watch = (content: string) => `
  const watched = (globalThis.watched = { shown: null, whole: null, tasks: [] })
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) watched.tasks.push({ from: startTime, ms: duration })
  }).observe({ type: 'longtask', buffered: true })
  const isThere = (selector) => document.querySelector(selector) !== null
  watched.isWhole = new Promise((resolve) => {
    setTimeout(() => resolve(false), ${PATIENCE_MS})
    const look = () => {
      if (document.querySelector('h1')?.textContent === 'Nothing here') return resolve(null)
      const isShown = isThere('h1') && isThere(${JSON.stringify(content)})
      if (isShown) watched.shown ??= performance.now()
      const isPainted = performance.getEntriesByName('first-contentful-paint').length > 0
      if (!isShown || !isPainted || isThere('main [aria-busy="true"]')) return requestAnimationFrame(look)
      watched.whole = performance.now()
      resolve(true)
    }
    look()
  })`

/** What is there before anything is painted is not seen; long tasks that began before that end later. */
const FIGURES = `({
  painted: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  shown: watched.shown = Math.max(watched.shown, performance.getEntriesByName('first-contentful-paint')[0].startTime),
  interactive: Math.max(watched.shown, ...watched.tasks.filter(({ from }) => from <= watched.shown).map(({ from, ms }) => from + ms)),
  whole: watched.whole,
  blocked: watched.tasks.reduce((sum, { ms }) => sum + Math.max(0, ms - 50), 0),
})`
