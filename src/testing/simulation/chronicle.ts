import { createHash } from 'node:crypto'
import os from 'node:os'
import { formatInstant, type Instant } from '../../time/instant.js'

const KEPT = 60
const LONGEST_LINE = 160

/** What happened, in order: all of it in a hash, by which two runs can be told apart, and the last of it in words. */
export class Chronicle {
  readonly #hash = createHash('sha256')
  readonly #last: string[] = []
  readonly #now: () => Instant
  /** What the texts of statements are called: they are long, and few. */
  readonly #lines = new Map<string, string>()
  steps = 0

  constructor(now: () => Instant) {
    this.#now = now
  }

  /** A statement and its answer: a step. `details` is what it was given, and what came of it. */
  step(who: string, what: string, details: unknown): void {
    this.steps += 1
    this.tell(who, this.#lineOf(what))
    this.#hash.update(`${JSON.stringify(details, withoutHost)}\0`)
  }

  #lineOf(text: string): string {
    let line = this.#lines.get(text)
    if (line === undefined) {
      this.#hash.update(text)
      line = `${this.#lines.size + 1} ${oneLine(text)}`
      this.#lines.set(text, line)
    }
    return line
  }

  /** Anything else. */
  tell(who: string, what: string): void {
    const line = `${formatInstant(this.#now())} step ${this.steps} ${who}: ${what}`
    this.#hash.update(`${line}\n`)
    this.#last.push(line)
    if (this.#last.length > KEPT) this.#last.shift()
  }

  last(): string[] {
    return [...this.#last]
  }

  /** Of everything until now. */
  trace(): string {
    return this.#hash.copy().digest('hex')
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, LONGEST_LINE)
}

const HOST: ReadonlySet<unknown> = new Set([os.hostname(), String(process.pid), process.pid])

/**
 * Workers register with their host and process number, and how much of a stack an error has depends on what was compiled by
 * then: these differ between runs, and nothing is decided by them.
 */
function withoutHost(_key: string, value: unknown): unknown {
  if (HOST.has(value)) return 'host'
  return typeof value === 'string' && value.includes('\n') ? value.replace(/\n\s+at [^\n"]*/g, '') : value
}
