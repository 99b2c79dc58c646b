import { rowsOf } from '../../store/pglite-engine.js'
import type { EngineHere } from '../../store/pglite-here.js'
import type { Request } from '../../store/pglite-messages.js'
import { letGoOfLockSql } from '../../store/session-statements.js'
import type { Instant } from '../../time/instant.js'
import type { Chronicle } from './chronicle.js'
import { ConnectionBroken } from './faults.js'

/** One run of a process, from its start to its end. */
export interface Life {
  readonly name: string
  isFrozen(): boolean
  /** It has died: nobody hears what it still says. */
  isGone: boolean
  /** The advisory locks that its session holds. */
  readonly locks: Set<string>
}

/** A transaction of a process. */
export interface OpenTransaction {
  /** Of the statement that aborted it, or what broke its connection. */
  failure: unknown
  /** It has ended, or its connection broke: it does not have the session any more. */
  isGone: boolean
}

/** What a process asks of the database, and waits for. */
export interface Call {
  life: Life
  request: Request
  /** The transaction that it is part of, begins or ends. */
  tx: OpenTransaction | null
  /** Held back until then. */
  notBefore: Instant
  resolve(rows: unknown[]): void
  reject(error: unknown): void
}

/**
 * All calls that wait to be carried out, and the one session that carries them out. A transaction has the session from its begin to
 * its end, as it would have its rows: others go on between transactions.
 */
export class Calls {
  readonly #engine: EngineHere
  readonly #chronicle: Chronicle
  readonly #waiting = new Set<Call>()
  #holder: { life: Life; tx: OpenTransaction } | null = null

  constructor(engine: EngineHere, chronicle: Chronicle) {
    this.#engine = engine
    this.#chronicle = chronicle
  }

  ask(life: Life, request: Request, tx: OpenTransaction | null): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      if (!life.isGone)
        this.#waiting.add({ life, request, tx, notBefore: Number.NEGATIVE_INFINITY, resolve, reject })
    })
  }

  get isHeld(): boolean {
    return this.#holder !== null
  }

  isAsking(life: Life): boolean {
    for (const call of this.#waiting) if (call.life === life) return true
    return false
  }

  /** Those that may be carried out now, by process: which of two that start has read its files first is not for the seed to say. */
  ready(now: Instant): Call[] {
    return [...this.#waiting]
      .filter((call) => call.notBefore <= now && !call.life.isFrozen() && this.#mayGo(call))
      .sort((a, b) => (a.life.name < b.life.name ? -1 : a.life.name > b.life.name ? 1 : 0))
  }

  #mayGo({ tx }: Call): boolean {
    return tx?.isGone || this.#holder === null || this.#holder.tx === tx
  }

  /** Carries one out and gives its answer; it waits no longer. */
  async carryOut(call: Call): Promise<Answer> {
    const { life, request, tx } = call
    this.#waiting.delete(call)
    if (tx?.isGone) return request.op === 'rollback' ? { rows: [] } : { error: tx.failure }
    const reply = await this.#engine.request(request)
    this.#chronicle.step(life.name, 'text' in request ? request.text : request.op, [
      'params' in request ? request.params : null,
      reply,
    ])
    if (request.op === 'begin') this.#holder = { life, tx: tx! }
    if (request.op === 'commit' || request.op === 'rollback') this.#letGo()
    try {
      return { rows: rowsOf(reply) }
    } catch (error) {
      return { error }
    }
  }

  answer({ resolve, reject }: Call, answer: Answer): void {
    if ('error' in answer) reject(answer.error)
    else resolve(answer.rows)
  }

  /** The connection of a call breaks. What it had open is rolled back. */
  async breakOff(call: Call): Promise<void> {
    this.#waiting.delete(call)
    const error = new ConnectionBroken()
    if (call.tx !== null && this.#holder?.tx === call.tx) await this.endTransactionOf(call.life, error)
    call.reject(error)
  }

  /** The server ends the open transaction of a process. */
  async endTransactionOf(life: Life, error: unknown = new ConnectionBroken()): Promise<void> {
    if (this.#holder?.life !== life) return
    this.#holder.tx.failure = error
    this.#letGo()
    await this.#engine.request({ op: 'rollback' })
  }

  #letGo(): void {
    if (this.#holder) this.#holder.tx.isGone = true
    this.#holder = null
  }

  /** A process is gone: so are its session, with all that it held, and its calls, which nobody answers any more. */
  async forget(life: Life): Promise<void> {
    for (const call of this.#waiting) if (call.life === life) this.#waiting.delete(call)
    await this.endTransactionOf(life)
    for (const key of life.locks) {
      await this.#engine.request({ op: 'query', text: letGoOfLockSql(key), params: [] })
    }
    life.locks.clear()
  }
}

export type Answer = { rows: unknown[] } | { error: unknown }
