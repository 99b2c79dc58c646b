import { type ContestantProcess, type Load, startContestant } from './contestant-process.js'

export interface Participant {
  name: string
  file: string
  url: string
  node: string
  /** How many runs it takes in one call when it enqueues in bulk. */
  chunk: number
}

export interface Sizes {
  /** Enqueued one by one before that is measured, and again before a worker is idle: a process that has just begun runs its code many times slower. */
  warmUp: number
  /** Enqueued one by one. */
  single: number
  callers: number
  /** Enqueued in bulk, and drained. */
  backlog: number
  /** Enqueued now and then. */
  paced: number
  idleMs: number
}

/** What one round says of one contestant; rates are per second. */
export interface Findings {
  enqueueEach: number
  enqueueAll: number
  drainOne: number
  drainTwo: number
  /** Milliseconds from the call that enqueues a run to the start of its handler. */
  latencies: number[]
  /** Looked at once. */
  idle?: { statementsPerSecond: number; cpuPercent: number }
}

/** A contestant with the process that enqueues. */
export interface Entered {
  participant: Participant
  client: ContestantProcess
}

export type Phase = (entered: Entered, sizes: Sizes, round: number) => Promise<Partial<Findings>>

/** Each begins and ends with tables that are empty; together they give all findings. */
export const PHASES: readonly Phase[] = [enqueueOneByOne, enqueueAndDrain, drainByTwo, workSingly]

async function enqueueOneByOne(
  { client }: Entered,
  { warmUp, single, callers }: Sizes,
): Promise<Partial<Findings>> {
  const { ms } = await client.ask<{ ms: number }>({ do: 'enqueueEach', warmUp, count: single, callers })
  await client.ask({ do: 'empty' })
  return { enqueueEach: perSecond(single, ms) }
}

async function enqueueAndDrain(entered: Entered, { backlog }: Sizes): Promise<Partial<Findings>> {
  const ms = await fill(entered, backlog)
  const drainOne = await drain(entered, backlog, 1)
  return { enqueueAll: perSecond(backlog, ms), drainOne }
}

async function drainByTwo(entered: Entered, { backlog }: Sizes): Promise<Partial<Findings>> {
  await fill(entered, backlog)
  return { drainTwo: await drain(entered, backlog, 2) }
}

async function fill({ participant, client }: Entered, backlog: number): Promise<number> {
  const { chunk } = participant
  const { ms } = await client.ask<{ ms: number }>({ do: 'enqueueAll', count: backlog, chunk })
  return ms
}

/**
 * The first tenth warms the workers up, connects them and starts them; then it counts, until the end of the last run is
 * recorded.
 */
async function drain({ participant, client }: Entered, backlog: number, workers: number): Promise<number> {
  await client.ask({ do: 'settle' })
  const warmUp = Math.ceil(backlog / 10)
  const processes = await start(participant, workers, 'backlog')
  const times: number[] = []
  while (times.length < backlog + warmUp) {
    await sleep(20)
    const seen = await Promise.all(processes.map((process) => process.ask<Progress>({ do: 'progress' })))
    for (const { times: more } of seen) times.push(...more)
  }
  await untilFinished(client)
  const endedMs = machineMs()
  await Promise.all(processes.map((process) => process.close()))
  await client.ask({ do: 'empty' })
  const startedMs = times.sort((a, b) => a - b)[warmUp]!
  return perSecond(backlog, endedMs - startedMs)
}

/** The numbers of the runs that were started, and when. */
interface Progress {
  numbers: number[]
  times: number[]
}

async function untilFinished(client: ContestantProcess): Promise<void> {
  while ((await client.ask<{ unfinished: boolean }>({ do: 'unfinished' })).unfinished) await sleep(5)
}

async function workSingly(
  { participant, client }: Entered,
  { warmUp, callers, paced, idleMs }: Sizes,
  round: number,
): Promise<Partial<Findings>> {
  const [worker] = await start(participant, 1, 'single')
  await sleep(500)
  await client.ask({ do: 'enqueueEach', warmUp, count: 0, callers })
  await untilFinished(client)
  await worker!.ask<Progress>({ do: 'progress' })
  const settling = Math.ceil(paced / 10)
  const { asked } = await client.ask<{ asked: number[] }>({
    do: 'enqueueAtIntervals',
    count: paced + settling,
    everyMs: 20,
  })
  await untilFinished(client)
  const { numbers, times } = await worker!.ask<Progress>({ do: 'progress' })
  const latencies = numbers.flatMap((n, index) => (n < settling ? [] : times[index]! - asked[n]!))
  const idle = round === 0 ? { idle: await watchIdle(client, worker!, idleMs) } : {}
  await worker!.close()
  await client.ask({ do: 'empty' })
  return { latencies, ...idle }
}

async function watchIdle(client: ContestantProcess, worker: ContestantProcess, idleMs: number) {
  const look = async () => ({
    ...(await client.ask<{ statements: number }>({ do: 'statements' })),
    ...(await worker.ask<{ cpuMs: number; atMs: number }>({ do: 'usage' })),
  })
  const before = await look()
  await sleep(idleMs)
  const after = await look()
  const ms = after.atMs - before.atMs
  return {
    statementsPerSecond: perSecond(after.statements - before.statements, ms),
    cpuPercent: (100 * (after.cpuMs - before.cpuMs)) / ms,
  }
}

async function start(participant: Participant, count: number, load: Load): Promise<ContestantProcess[]> {
  const processes = await Promise.all(Array.from({ length: count }, () => startContestant(participant)))
  await Promise.all(processes.map((process) => process.ask({ do: 'work', load })))
  return processes
}

const machineMs = () => Number(process.hrtime.bigint()) / 1e6
const perSecond = (count: number, ms: number) => count / (ms / 1000)
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
