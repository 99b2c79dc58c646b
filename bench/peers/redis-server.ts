import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'

export interface RedisServer {
  readonly url: string
  remove(): Promise<void>
}

/** The version of the `redis-server` on the PATH, if there is one. */
export function redisVersion(): string | undefined {
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return stdout?.match(/v=(\S+)/)?.[1]
}

/** With every write on the disk before it is answered, as PostgreSQL has it; or as Redis comes. */
export async function startRedis(durability: 'always' | 'default'): Promise<RedisServer> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-redis-'))
  const port = await freePort()
  const always = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
  const settings = durability === 'always' ? always : []
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...settings],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const killWithUs = () => child.kill('SIGKILL')
  process.once('exit', killWithUs)
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    if (String(chunk).includes('Ready to accept connections')) break
  }
  child.stdout.resume()
  return {
    url: `redis://127.0.0.1:${port}`,
    async remove() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      process.off('exit', killWithUs)
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
