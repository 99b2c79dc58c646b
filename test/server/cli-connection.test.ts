import { once } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { withConnection, withConnectionFlags } from '../../src/cli/connection.js'
import type { HttpClient } from '../../src/http-client/index.js'
import { listen } from '../../src/server/listen.js'
import { postgresUrl } from '../support/database.js'
import { openWorld } from './world.js'

/** As a command would with these arguments. */
async function ask(args: string[], work: (client: HttpClient) => Promise<unknown>): Promise<unknown> {
  let answer: unknown
  await withConnectionFlags(new Command())
    .action((flags, command) =>
      withConnection(flags, command, async (client) => {
        answer = await work(client)
      }),
    )
    .parseAsync(args, { from: 'user' })
  return answer
}

/** A folder on which somebody runs who says to be at the address. */
async function folderOf(url: string): Promise<string> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-lock-'))
  const server = net.createServer((socket) => socket.destroy()).listen(path.join(folder, 'lock.sock'))
  onTestFinished(() => {
    server.close()
    fs.rmSync(folder, { recursive: true, force: true })
  })
  await once(server, 'listening')
  fs.writeFileSync(
    path.join(folder, 'lock'),
    JSON.stringify({ pid: 1, startedAt: '2026-01-01T00:00:00Z', url }),
  )
  return folder
}

function setToken(token: string): void {
  vi.stubEnv('ESCAPEMENT_TOKEN', token)
  onTestFinished(() => void vi.unstubAllEnvs())
}

describe('a server that a lock file names', () => {
  it('gets no token if it is beyond this machine', async () => {
    setToken('secret')
    const sent = vi.spyOn(globalThis, 'fetch')
    onTestFinished(() => sent.mockRestore())
    const folder = await folderOf('http://203.0.113.7:4680')
    await expect(ask(['--directory', folder], (client) => client.stats())).rejects.toMatchObject({
      code: 'directory_unusable',
      message: `The lock file in ${folder} is not believed: it points to 203.0.113.7:4680, beyond this machine. If you trust the server, name it with --url.`,
    })
    expect(sent).not.toHaveBeenCalled()
  })

  it('gets it if it is ours, and else says how one is made for an embedded database', async () => {
    const world = await openWorld()
    const server = await listen(world.handler, { host: '127.0.0.1', port: 0 })
    onTestFinished(() => server.close())
    const folder = await folderOf(server.url)
    const name = () => ask(['--directory', folder], async (client) => (await client.session()).name)
    await expect(name()).rejects.toMatchObject({
      message: `A valid token is needed: give it with --token or ESCAPEMENT_TOKEN. Stop the server, then make one with: escapement tokens create <name> --role admin --directory ${folder}`,
    })
    setToken(await world.token('viewer'))
    expect(await name()).toBe('viewer-u1')
  })
})

describe('a database that is asked without a server', () => {
  it('knows a user that has a number alone', async () => {
    const { schema } = await openWorld()
    const userInfo = vi.spyOn(os, 'userInfo').mockImplementation(() => {
      throw new Error('ENOENT: uv_os_get_passwd')
    })
    // Whoever imported it by its name has the one of that time otherwise.
    syncBuiltinESMExports()
    onTestFinished(() => {
      userInfo.mockRestore()
      syncBuiltinESMExports()
    })
    const args = ['--database', postgresUrl(), '--schema', schema]
    expect(await ask(args, async (client) => (await client.session()).name)).toBe(`uid ${process.getuid?.()}`)
  })

  it('prints what went wrong, where the answer says that the log has it', async () => {
    const { schema, escapement } = await openWorld()
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => printed.mockRestore())
    const args = ['--database', postgresUrl(), '--schema', schema]
    const broken = async (client: HttpClient) => {
      await escapement.database.query(`alter table "${schema}".tokens rename to gone`)
      await client.tokens.list()
    }
    await expect(ask(args, broken)).rejects.toMatchObject({ code: 'internal_error' })
    expect(printed.mock.calls.flat().join('\n')).toMatch(/a request failed.*tokens" does not exist/)
  })
})
