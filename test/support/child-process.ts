import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { SHORT_LIVED } from './short-lived.js'

const jiti = join(dirname(createRequire(import.meta.url).resolve('jiti/package.json')), 'lib', 'jiti-cli.mjs')

export interface FixtureOptions {
  env?: Record<string, string>
  /** Options of Node itself, such as a preloaded module. */
  nodeOptions?: readonly string[]
}

/** A TypeScript file run as a process of its own, which speaks in lines of JSON. */
export class FixtureProcess {
  readonly lines: Record<string, unknown>[] = []
  stderr = ''
  readonly #process: ChildProcess
  readonly #exited: Promise<unknown[]>
  readonly #linesEnded: Promise<unknown[]>
  #waiting: (() => void)[] = []

  constructor(file: string, args: readonly string[], { env = {}, nodeOptions = [] }: FixtureOptions = {}) {
    this.#process = spawn(process.execPath, [...SHORT_LIVED, ...nodeOptions, jiti, file, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#exited = once(this.#process, 'close')
    this.#process.stderr!.setEncoding('utf8').on('data', (text) => {
      this.stderr += text
    })
    const reader = createInterface({ input: this.#process.stdout! })
    this.#linesEnded = once(reader, 'close')
    reader.on('line', (line) => {
      // Killed in the middle of a line, it leaves half of one.
      if (!line.endsWith('}')) return
      this.lines.push(JSON.parse(line))
      for (const wake of this.#waiting.splice(0)) wake()
    })
  }

  /** The first line that has the field, whether it was said already or is still to come. */
  async line(field: string): Promise<Record<string, unknown>> {
    for (;;) {
      const line = this.lines.find((candidate) => field in candidate)
      if (line) return line
      const ended = await Promise.race([
        new Promise<false>((resolve) => this.#waiting.push(() => resolve(false))),
        this.#linesEnded.then(() => true),
      ])
      if (ended && !this.lines.some((candidate) => field in candidate)) {
        throw new Error(`The process ended without saying "${field}". ${this.stderr}`)
      }
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.exitCode()
  }

  async exitCode(): Promise<number | null> {
    await Promise.all([this.#exited, this.#linesEnded])
    return this.#process.exitCode
  }
}
