import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The processes of the system: when one is killed, another takes its place. */
export interface Processes {
  /** How late handlers began since it was last asked, in milliseconds. Throws where a process has ended by itself. */
  takeLateness(): number[]
  /** SIGKILL of one after the other. */
  killOne(): void
  /** Ends them as a deploy would, after what they have in hand. */
  stop(): Promise<void>
  /** Ends them at once. */
  kill(): void
}

const FILE = fileURLToPath(new URL('process.mjs', import.meta.url))

export async function startProcesses(url: string, count: number): Promise<Processes> {
  let lateness: number[] = []
  let isOver = false
  let failure: Error | undefined
  let kills = 0
  const children: ChildProcess[] = []

  function launch(place: number): ChildProcess {
    // In a group of its own: a Ctrl-C that is meant for the bench does not end it in the middle of something.
    const child = fork(FILE, [url], {
      execArgv: [],
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    children[place] = child
    child.on('message', (message: { lateness?: number[] }) => {
      for (const ms of message.lateness ?? []) lateness.push(ms)
    })
    child.once('exit', (code, signal) => {
      if (isOver) return
      if (signal === 'SIGKILL') launch(place)
      else failure = new Error(`A process of the soak ended by itself: ${code ?? signal}`)
    })
    return child
  }

  function kill(): void {
    isOver = true
    for (const child of children) child.kill('SIGKILL')
  }
  process.once('exit', kill)
  const started = Array.from({ length: count }, (_, place) => launch(place))
  // The first message says that it has begun.
  await Promise.all(started.map((child) => Promise.race([once(child, 'message'), once(child, 'exit')])))
  if (failure) {
    kill()
    throw failure
  }

  return {
    kill,
    takeLateness() {
      if (failure) throw failure
      const taken = lateness
      lateness = []
      return taken
    },
    killOne() {
      children[kills % count]!.kill('SIGKILL')
      kills += 1
    },
    async stop() {
      isOver = true
      process.off('exit', kill)
      await Promise.all(children.map(end))
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
