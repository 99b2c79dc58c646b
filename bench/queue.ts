/**
 * The queue beside its peers: enqueueing one by one and in bulk, draining with one and with two processes, the latency
 * of one run on an idle worker, and what an idle worker asks of its database. All contestants in one run, taking turns.
 *
 *     npm run bench:queue             installs the peers into bench/peers; about ten minutes
 *     npm run bench:queue -- --quick  ours and the hand-written limit, small enough for the tests
 *
 * PostgreSQL from npm, fsync and synchronous_commit on, a database for each contestant. Redis if it is on the PATH.
 */
import { execFileSync } from 'node:child_process'
import os from 'node:os'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { startPostgres } from '../test/support/postgres-server.js'
import { startContestant } from './contestants/contestant-process.js'
import { type Entry, lineUp } from './contestants/line-up.js'
import { type Entered, type Findings, type Participant, PHASES, type Sizes } from './contestants/measure.js'
import { queueTable } from './contestants/queue-table.js'
import { installPeers, versionOf } from './peers/install.js'
import { type RedisServer, redisVersion, startRedis } from './peers/redis-server.js'

export interface QueueSize extends Sizes {
  rounds: number
  peers: boolean
}

export const FULL: QueueSize = {
  rounds: 5,
  peers: true,
  warmUp: 600,
  single: 1_000,
  callers: 10,
  // Of less, a good part of what is measured on a quick machine is the beginning.
  backlog: 60_000,
  paced: 100,
  idleMs: 5_000,
}
export const QUICK: QueueSize = {
  rounds: 1,
  peers: false,
  warmUp: 20,
  single: 50,
  callers: 10,
  backlog: 500,
  paced: 10,
  idleMs: 500,
}

const SERVER_SETTINGS = [
  'shared_buffers=1GB',
  'max_wal_size=8GB',
  'shared_preload_libraries=pg_stat_statements',
]

/** Runs enqueued by one call, in bulk. */
const CHUNK = 5_000

export async function benchQueue(size: QueueSize, print: (line: string) => void): Promise<void> {
  const node = size.peers ? installPeers() : process.execPath
  const redis = size.peers ? redisVersion() : undefined
  const entries = lineUp({ peers: size.peers, redis: redis !== undefined })
  const postgres = await startPostgres({ fsync: true, settings: SERVER_SETTINGS })
  const redisServers: RedisServer[] = []

  async function serverOf({ server }: Entry, index: number): Promise<string> {
    if (server === 'PostgreSQL') return createDatabase(postgres.url, `contestant_${index}`)
    const started = await startRedis(server === 'Redis as it comes' ? 'default' : 'always')
    redisServers.push(started)
    return started.url
  }

  try {
    const participants: Participant[] = []
    for (const [index, entry] of entries.entries()) {
      const { name, file } = entry
      participants.push({ name, file, node, chunk: CHUNK, url: await serverOf(entry, index) })
    }
    await prepare(participants)
    const findings = await takeTurns(participants, size, print)
    const versions = await versionsOf({ node, postgresUrl: postgres.url, peers: size.peers, redis })
    print(`${today()}, ${os.availableParallelism()} cores, ${versions.join(', ')}\n`)
    for (const line of queueTable(findings)) print(line)
    print('')
    for (const { name, settings } of entries) print(`- ${name}: ${settings}.`)
    if (size.peers && redis === undefined) print('- BullMQ: Redis is missing: no redis-server on the PATH.')
  } finally {
    await Promise.all(redisServers.map((server) => server.remove()))
    await postgres.remove()
  }
}

/** The findings of each contestant, round by round. */
async function takeTurns(
  participants: readonly Participant[],
  size: QueueSize,
  print: (line: string) => void,
) {
  const findings = new Map<string, Findings[]>(participants.map(({ name }) => [name, []]))
  for (let round = 0; round < size.rounds; round++) {
    const entered = await enter(participants)
    const found = new Map(participants.map(({ name }) => [name, {} as Findings]))
    // Phase by phase, so that what is compared was measured within the same minute; and each round begins with another
    // contestant, so that none is always the first.
    const start = round % entered.length
    for (const phase of PHASES) {
      for (const one of [...entered.slice(start), ...entered.slice(0, start)]) {
        Object.assign(found.get(one.participant.name)!, await phase(one, size, round))
      }
    }
    await Promise.all(entered.map(({ client }) => client.close()))
    for (const [name, one] of found) findings.get(name)!.push(one)
    const drained = [...found].map(([name, { drainOne }]) => `${name} ${Math.round(drainOne)}/s`)
    print(`round ${round + 1}, drained by one process: ${drained.join(', ')}`)
  }
  return findings
}

async function enter(participants: readonly Participant[]): Promise<Entered[]> {
  const entered: Entered[] = []
  for (const participant of participants) {
    const client = await startContestant(participant)
    await client.ask({ do: 'empty' })
    entered.push({ participant, client })
  }
  return entered
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const url = serverUrl.replace(/[^/]+$/, name)
  await ask(serverUrl, `create database ${name}`)
  await ask(url, 'create extension pg_stat_statements')
  return url
}

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(text)
  await client.end()
  return rows
}

async function prepare(participants: readonly Participant[]): Promise<void> {
  for (const participant of participants) {
    const contestant = await startContestant(participant)
    await contestant.ask({ do: 'prepare' })
    await contestant.close()
  }
}

async function versionsOf(of: {
  node: string
  postgresUrl: string
  peers: boolean
  redis: string | undefined
}) {
  const node = execFileSync(of.node, ['--version'], { encoding: 'utf8' }).trim().slice(1)
  const [row] = (await ask(of.postgresUrl, 'show server_version')) as { server_version: string }[]
  const peers = of.peers ? ['graphile-worker', 'pg-boss', 'bullmq'] : []
  return [
    `Node ${node}`,
    `PostgreSQL ${row!.server_version}`,
    ...peers.map((name) => `${name} ${versionOf(name)}`),
    ...(of.redis === undefined ? [] : [`Redis ${of.redis}`]),
  ]
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await benchQueue(process.argv.includes('--quick') ? QUICK : FULL, console.log)
}
