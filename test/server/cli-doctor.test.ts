import { once } from 'node:events'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEscapement } from '../../src/index.js'
import { runCommand } from '../support/command.js'
import { freshSchemaName, postgresUrl, sharedDatabase } from '../support/database.js'

const schema = freshSchemaName()
const query = async (text: string) => (await sharedDatabase()).query(text.replaceAll('{schema}', schema))
const doctor = (...args: string[]) =>
  runCommand(['doctor', '--schema', schema, '--database', postgresUrl(), ...args])

beforeAll(async () => {
  await createEscapement({ database: await sharedDatabase(), schema })
})
afterAll(() => query('drop schema {schema} cascade'))

describe('escapement doctor', () => {
  it('ends with status 0 in health', async () => {
    const { status, out } = await doctor()
    expect(out).toMatch(
      /^✔ Nothing is wrong\.\n {2}escapement .* · postgres 1\d.* · schema test_\w+ \d+ · time zone data \d/,
    )
    expect(status).toBe(0)
  })

  it('ends with status 1 at a problem, and with 0 at a note, which it tells', async () => {
    await query('update {schema}.control set claiming_paused_at = now()')
    const noted = await doctor()
    expect(noted.out).toMatch(
      /^! claiming paused {2}claiming\n.*\n.*\n {4}escapement claiming resume\n\n✔ No problem, 1 note\.\n/,
    )
    expect(noted.status).toBe(0)
    await query('drop index {schema}.runs_history')
    const { status, out } = await doctor('--json')
    expect(JSON.parse(out)).toMatchObject({
      findings: [
        { kind: 'missing_index', severity: 'problem' },
        { kind: 'claiming_paused', severity: 'note' },
      ],
      database: { kind: 'postgres' },
      schema: { name: schema },
      clockSkewMs: expect.any(Number),
      notificationMs: expect.any(Number),
    })
    expect(status).toBe(1)
  })

  it('finds a schema that lacks a migration, with what applies it', async () => {
    await query(
      'delete from {schema}.migrations where number = (select max(number) from {schema}.migrations)',
    )
    const { status, out } = await doctor()
    expect(out).toMatch(
      /^✘ schema {2}the schema\n {4}The schema "test_\w+" lacks 1 migration.*\n.*\n {4}escapement migrate\n/,
    )
    expect(status).toBe(1)
  })

  it('finds a database or a server that does not answer, with status 3', async () => {
    const free = net.createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port } = free.address() as net.AddressInfo
    free.close()
    await once(free, 'close')
    const database = await runCommand(['doctor', '--database', `postgres://app:secret@127.0.0.1:${port}/app`])
    expect(database.out).toContain(
      `✘ connection  the database\n    Cannot use PostgreSQL at 127.0.0.1:${port}/app: nothing listens`,
    )
    expect(database.out).not.toContain('secret')
    expect(database.status).toBe(3)
    const server = await runCommand(['doctor', '--json', '--url', `http://127.0.0.1:${port}`])
    expect(JSON.parse(server.out)).toMatchObject({
      findings: [{ kind: 'connection', subject: 'the server' }],
    })
    expect(server.status).toBe(3)
  })
})
