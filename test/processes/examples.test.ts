import { execFile } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createEscapement } from 'escapement'
import pg from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createPostgresDatabase } from '../support/database.js'
import { EmptyProject } from '../support/empty-project.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { scripts } = JSON.parse(fs.readFileSync(`${root}/package.json`, 'utf8')) as {
  scripts: Record<string, string>
}
const readme = fs.readFileSync(`${root}/examples/README.md`, 'utf8')

/** What the README of the examples says that the command prints. */
function printedBy(command: string): string {
  const [, printed] = readme.match(
    new RegExp(`\`npm run ${command}\` prints:\\n\\n\`\`\`\\n([\\s\\S]*?)\`\`\``),
  )!
  return printed!
}

/** A machine that stalls for half a second has two changes in one sweep: they come row by row, and the second may have deleted the row whose title is asked for. */
const linesOf = (printed: string) =>
  printed.replace('expires_at "On sale today"', 'expires_at post 2').split('\n').sort()

async function freshDatabase(): Promise<string> {
  const { url, drop } = await createPostgresDatabase()
  onTestFinished(drop)
  return url
}

it('the blog prints what the README of the examples says', async () => {
  // The build is there already: the rest of the command is run as it is.
  const [, command] = scripts['example:blog']!.split(' && ')
  const [, ...args] = command!.split(' ')
  const { DATABASE_URL: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env })
  expect(linesOf(stdout)).toEqual(linesOf(printedBy('example:blog')))
})

const others = Object.keys(scripts).filter((name) => name.startsWith('example:') && name !== 'example:blog')

// In this process, and on a server that is there already: each would spend most of its time on starting both.
it.each(others)('%s prints what the README of the examples says', async (name) => {
  vi.stubEnv('DATABASE_URL', await freshDatabase())
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((text) => void lines.push(text))
  onTestFinished(() => {
    log.mockRestore()
    vi.unstubAllEnvs()
  })
  const [, file] = /node --import jiti\/register (\S+)$/.exec(scripts[name]!)!
  await import(path.join(root, file!))
  expect(`${lines.join('\n')}\n`).toBe(printedBy(name))
})

it('every example is listed', () => {
  const folders = fs
    .readdirSync(`${root}/examples`, { withFileTypes: true })
    .filter((each) => each.isDirectory())
  for (const { name } of folders) expect(readme).toMatch(new RegExp(`^\\| \\[[^\\]]+\\]\\(${name}[/)]`, 'm'))
})

it('what the example in Python asks for is a run, in the transaction of its order', async () => {
  const url = await freshDatabase()
  const escapement = await createEscapement({ database: url })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await escapement.close()
  })
  // As psql does with --single-transaction.
  const sql = fs.readFileSync(`${root}/examples/other-languages/enqueue.sql`, 'utf8')
  await client.query(`begin; ${sql} commit;`)
  const python = fs.readFileSync(`${root}/examples/other-languages/enqueue.py`, 'utf8')
  const given: Record<string, unknown> = {
    order: 4713,
    customer: 'chai',
    input: JSON.stringify({ customer: 'chai' }),
    key: 'welcome:chai',
  }
  const statements = [...python.matchAll(/execute\(\s*"([^"]+)"/g)].map(([, text]) => text!)
  expect(statements).toHaveLength(2)
  await client.query('begin')
  for (const statement of statements) {
    const params: unknown[] = []
    const text = statement.replaceAll(/%\((\w+)\)s/g, (_, name) => `$${params.push(given[name])}`)
    await client.query(text, params)
  }
  await client.query('commit')
  const { runs } = await escapement.runs.search({ job: 'send-welcome' })
  expect(runs).toMatchObject([{ key: 'welcome:chai', input: { customer: 'chai' }, state: 'pending' }])
})

it('the example for Express takes an order, makes its invoice once, shows the API to staff alone, and stops', async () => {
  const project = new EmptyProject()
  onTestFinished(() => project.remove())
  fs.cpSync(`${root}/examples/express`, project.folder, { recursive: true })
  fs.mkdirSync(path.join(project.folder, 'node_modules'))
  fs.symlinkSync(root, path.join(project.folder, 'node_modules/escapement'))
  const express = path.join(root, 'test/integrations/node_modules/express')
  fs.symlinkSync(express, path.join(project.folder, 'node_modules/express'))
  const child = project.spawn(process.execPath, ['app.js'], {
    env: { ...process.env, DATABASE_URL: await freshDatabase(), PORT: '0' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'close')
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => (await lines.next()).value as string
  const said = await next()
  expect(said, stderr).toMatch(/^listening on /)
  const url = said.replace('listening on ', '')

  const order = () =>
    fetch(`${url}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"order":4711}',
    })
  expect([(await order()).status, (await order()).status]).toEqual([201, 200])
  expect(await next()).toBe('invoice for order 4711')
  const runs = `${url}/internal/jobs/api/v1/runs`
  expect((await fetch(runs)).status).toBe(401)
  const answer = await fetch(runs, { headers: { 'x-staff': 'yes' } })
  expect(await answer.json()).toMatchObject({ runs: [{ job: 'send-invoice', key: 'invoice:4711' }] })
  expect((await fetch(`${url}/internal/jobs/ready`)).status).toBe(200)

  child.kill('SIGTERM')
  expect(await next()).toBe('stopped')
  expect((await exited)[0]).toBe(0)
})
