/** How the database carries out what pages ask for, written down so that it can be written down again. */
import fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEscapement, set } from '../../src/index.js'
import { createHandler } from '../../src/server/handler.js'
import type { Database, Param, Queryable } from '../../src/store/database.js'
import { openDatabase } from '../../src/store/open.js'
import { folded, inEnglish } from '../figures.js'
import { type Call, callsOf } from './calls.js'
import type { FilledDatabase } from './database.js'
import { JOBS } from './fill.js'

const FILE = new URL('../../docs/dashboard-plans.md', import.meta.url)

interface Asked {
  text: string
  params: readonly Param[]
}

interface Plan {
  ms: number
  lines: string[]
}

export async function writePlans({ server, known }: FilledDatabase): Promise<void> {
  const { outer: database } = await openDatabase(server.url)
  const asked: Asked[] = []
  const escapement = await createEscapement({ database: listenedTo(database, (one) => asked.push(one)) })
  for (const name of JOBS) escapement.job(name, { handler: () => {} })
  await escapement.transitions.declare('posts', {
    softDelete: 'deleted_at',
    fields: { publish_at: set('status', { from: 'draft', to: 'published' }) },
  })
  const handler = createHandler(escapement, { authenticate: () => ({ name: 'bench', role: 'admin' }) })
  const answer = async ({ path, body }: Call) => {
    const request = body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }
    const response = await handler(new Request(`http://127.0.0.1/api/v1${path}`, request || {}))
    if (!response.ok)
      throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`)
    await response.text()
  }
  const [{ version }] = (await database.query<{ version: string }>(
    `select current_setting('server_version') as version`,
  )) as [{ version: string }]
  const lines = [HEAD(version)]
  for (const { page, calls } of callsOf(known)) {
    for (const call of calls.filter(({ plan }) => plan !== undefined)) {
      // Twice: what is read for the first time says more of the disk than of the statement.
      await answer(call)
      asked.length = 0
      await answer(call)
      if (asked.length === 0) {
        // It was one that is kept for a moment.
        await sleep(KEPT_MS)
        await answer(call)
      }
      lines.push(...written(`${page}: ${call.what}`, call, await plansOf(database, asked.splice(0))))
    }
  }
  fs.writeFileSync(FILE, `${lines.join('\n')}\n`)
  handler.close()
  await escapement.close()
  await database.close()
}

const KEPT_MS = 5_500

const HEAD = (version: string) => `# Plans behind the dashboard

Written by \`npm run bench:dashboard -- --plans\` on ${new Date().toISOString().slice(0, 10)} with PostgreSQL ${version} and 1,000,000 schedules, 5,000,000 runs of which
100,000 are open, and a table of 1,000,000 rows with a transition. Of a call that takes several statements the one that takes longest is shown.
What each call takes over HTTP is in [performance.md](performance.md#the-dashboard-npm-run-benchdashboard).`

function written(title: string, { path, body, plan }: Call, plans: readonly Plan[]): string[] {
  const { ms, lines } = plans.reduce((slowest, plan) => (plan.ms > slowest.ms ? plan : slowest))
  const total = plans.reduce((sum, { ms }) => sum + ms, 0)
  const count = plans.length === 1 ? 'One statement' : `${plans.length} statements`
  return [
    '',
    `## ${title[0]!.toUpperCase()}${title.slice(1)}`,
    '',
    `\`${body === undefined ? 'GET' : 'POST'} /api/v1${path.replace(/pageToken=[^&]+/, 'pageToken=…')}\`. ${plan} ${count}, ${inEnglish(total, 1)} ms.`,
    ...folded(`The plan${plans.length === 1 ? '' : ' of the longest'}, ${inEnglish(ms, 1)} ms`, lines),
  ]
}

async function plansOf(database: Database, asked: readonly Asked[]): Promise<Plan[]> {
  const plans: Plan[] = []
  for (const { text, params } of asked.filter(isRead)) {
    const rows = await database.transaction(async (tx) =>
      tx.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers, costs off) ${text}`, params),
    )
    const told = rows.map((row) => row['QUERY PLAN'].slice(0, 240))
    const ms = Number(/Execution Time: ([\d.]+)/.exec(told.join('\n'))?.[1])
    const lines = told.filter((line) => !BESIDE_THE_POINT.test(line))
    plans.push({ ms, lines })
  }
  return plans
}

const BESIDE_THE_POINT = /^ *(?:Storage: |Index Searches: |Heap Fetches: 0|Sort Method: |Worker |Planning)/

const isRead = ({ text }: Asked) =>
  /^\s*(?:with|select|\()/i.test(text) && !/\b(?:insert into|update|delete from|pg_notify)\b/i.test(text)

/** The same database, which tells what it is asked. */
function listenedTo(database: Database, onAsked: (asked: Asked) => void): Database {
  const over = <Port extends Queryable>(port: Port): Port => ({
    ...port,
    query(text: string, params: readonly Param[] = []) {
      onAsked({ text, params })
      return port.query(text, params)
    },
  })
  return { ...over(database), transaction: (work) => database.transaction((tx) => work(over(tx))) }
}
