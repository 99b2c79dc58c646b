import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type Load = 'backlog' | 'single'

/** What a contestant can be asked; `serve.mjs` answers. */
type Command =
  | { do: 'prepare' | 'empty' | 'settle' | 'unfinished' | 'statements' | 'progress' | 'usage' | 'close' }
  | { do: 'enqueueEach'; warmUp: number; count: number; callers: number }
  | { do: 'enqueueAll'; count: number; chunk: number }
  | { do: 'enqueueAtIntervals'; count: number; everyMs: number }
  | { do: 'work'; load: Load }

export interface ContestantProcess {
  ask<Answer>(command: Command): Promise<Answer>
  close(): Promise<void>
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a contestant; it has loaded its code and waits for commands. */
export async function startContestant(options: {
  /** Below `bench`. */
  file: string
  url: string
  node: string
}): Promise<ContestantProcess> {
  const file = fileURLToPath(new URL(`../${options.file}`, import.meta.url))
  const child = spawn(options.node, [file, options.url], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  running.add(child)
  child.once('close', () => running.delete(child))
  const next = answersOf(child, options.file)
  await next()
  async function ask<Answer>(command: Command): Promise<Answer> {
    child.stdin.write(`${JSON.stringify(command)}\n`)
    return (await next()) as Answer
  }
  return {
    ask,
    async close() {
      const ended = once(child, 'close')
      await ask({ do: 'close' })
      await ended
    },
  }
}

/** One answer for each command, in order. */
function answersOf(child: ChildProcess, name: string): () => Promise<unknown> {
  const waiting: { resolve(answer: unknown): void; reject(error: Error): void }[] = []
  let errors = ''
  let failure: Error | undefined
  // Writing to one that has ended: its own last words say more.
  child.stdin!.on('error', () => {})
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    errors = (errors + text).slice(-10_000)
  })
  createInterface({ input: child.stdout! }).on('line', (line) => waiting.shift()?.resolve(JSON.parse(line)))
  child.once('close', (code, signal) => {
    failure = new Error(`${name} ended with ${signal ?? code}:\n${errors}`)
    for (const { reject } of waiting) reject(failure)
  })
  return () =>
    new Promise((resolve, reject) => {
      if (failure) reject(failure)
      else waiting.push({ resolve, reject })
    })
}
