import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

interface Begun {
  run: string
  at: number
  planTime: number | null
}

interface Usage {
  cpuMs: number
  /** Bytes of memory that are its own. */
  rss: number
}

/** A process of the system as its users start it, from the compiled package. */
export interface RunningProcess {
  /** Handlers that have begun since it was last asked. */
  takeBegun(): Begun[]
  usage(): Promise<Usage>
  kill(): Promise<void>
  stop(): Promise<void>
}

const PROGRAMS = { ours: './process.mjs', 'by hand': './by-hand.mjs' }

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export async function startRunning(
  url: string,
  { concurrency = 1_000, roles = [] as readonly string[], of = 'ours' as keyof typeof PROGRAMS } = {},
): Promise<RunningProcess> {
  const program = fileURLToPath(new URL(PROGRAMS[of], import.meta.url))
  const child = spawn(process.execPath, [program, url, String(concurrency), ...roles], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  let begun: Begun[] = []
  let answer = (_: Usage) => {}
  const ready = new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`a process of the system ended with ${code}`)))
    child.on('message', (message: { begun?: Begun[]; usage?: Usage; isReady?: true }) => {
      if (message.isReady) resolve()
      if (message.begun) begun.push(...message.begun)
      if (message.usage) answer(message.usage)
    })
  })
  await ready

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  return {
    takeBegun() {
      const taken = begun
      begun = []
      return taken
    },
    usage: () =>
      new Promise((resolve) => {
        answer = resolve
        child.send({})
      }),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}
