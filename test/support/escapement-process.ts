import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import readline from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { SHORT_LIVED } from './short-lived.js'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** The compiled program in a process of its own. */
export interface EscapementProcess {
  readonly child: ChildProcess
  /** Standard output and standard error, line by line, without colours. */
  readonly lines: string[]
  /** Resolves with the first line that matches, past or to come, from one on; rejects when the process ends before. */
  line(pattern: RegExp, from?: number): Promise<string>
  /** Its exit status, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

export interface SpawnOptions {
  cwd?: string
  env?: Record<string, string>
}

export function spawnEscapement(args: readonly string[], { cwd, env }: SpawnOptions = {}): EscapementProcess {
  const { DATABASE_URL: _, ...inherited } = process.env
  const child = spawn(process.execPath, [...SHORT_LIVED, MAIN, ...args], {
    cwd,
    env: { ...inherited, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    readline.createInterface({ input: stream }).on('line', (text) => {
      lines.push(stripVTControlCharacters(text))
      for (const look of waiting) look()
    })
  }
  let over = false
  const ended = once(child, 'close').then(([code, signal]) => {
    over = true
    for (const look of waiting) look()
    return signal ?? code
  })
  return {
    child,
    lines,
    ended,
    line: (pattern, from = 0) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.slice(from).find((line) => pattern.test(line))
          if (found === undefined && !over) return
          waiting.delete(look)
          if (found !== undefined) resolve(found)
          else reject(new Error(`ended without a line that matches ${pattern}:\n${lines.join('\n')}`))
        }
        waiting.add(look)
        look()
      }),
    kill(signal) {
      child.kill(signal)
      return ended
    },
  }
}
