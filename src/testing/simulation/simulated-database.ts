import { AsyncLocalStorage } from 'node:async_hooks'
import { EscapementError } from '../../errors.js'
import type { Database, Param, Queryable, Transaction } from '../../store/database.js'
import { parameterText } from '../../store/parameters.js'
import { holdLockSql, letGoOfLockSql, listenSql } from '../../store/session-statements.js'
import type { Calls, Life, OpenTransaction } from './calls.js'

/** One for all processes: each makes every promise of the host dearer. */
const current = new AsyncLocalStorage<SimulatedTransaction>()

/** Who is asked to carry statements out. */
export type Asked = Pick<Calls, 'ask'>

/** The listeners of one process, by channel. */
export type Listeners = Map<string, Set<(payload: string) => void>>

/** The database as one simulated process has it: each statement waits for its turn among those of all processes. */
export function simulatedDatabase(calls: Asked, life: Life, listeners: Listeners): Database {
  function refuseInsideTransaction(): void {
    const tx = current.getStore()
    if (!tx || tx.hasEnded) return
    throw new EscapementError('database_busy', {
      message:
        'The simulated database has one session, and the transaction around this call holds it. ' +
        'Use the `tx` that was handed to the callback.',
    })
  }

  async function query<Row>(text: string, params: readonly Param[] = []): Promise<Row[]> {
    refuseInsideTransaction()
    const request = { op: 'query', text, params: params.map(parameterText) } as const
    return (await calls.ask(life, request, null)) as Row[]
  }

  async function transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    refuseInsideTransaction()
    const tx = new SimulatedTransaction(calls, life)
    await calls.ask(life, { op: 'begin' }, tx)
    try {
      const result = await current.run(tx, work, tx)
      tx.hasEnded = true
      const [outcome] = (await calls.ask(life, { op: 'commit' }, tx)) as { command: string }[]
      // PostgreSQL answers the commit of a failed transaction with a rollback and no error.
      if (outcome?.command === 'ROLLBACK') throw tx.failure
      return result
    } catch (error) {
      tx.hasEnded = true
      tx.failure ??= error
      await calls.ask(life, { op: 'rollback' }, tx)
      throw error
    }
  }

  return {
    kind: 'pglite',
    mode: 'direct',
    canListen: true,
    query,
    transaction,
    longTransaction: transaction,
    session: (work) => work({ query }),
    async listen(channel, listener) {
      const own = (payload: string) => listener(payload)
      await calls.ask(life, { op: 'script', text: listenSql(channel) }, null)
      const all = listeners.get(channel) ?? new Set()
      listeners.set(channel, all.add(own))
      return async () => void all.delete(own)
    },
    async holdLock(key, onChange) {
      await query(holdLockSql(key))
      life.locks.add(key)
      onChange(true)
      return async () => {
        life.locks.delete(key)
        await query(letGoOfLockSql(key))
      }
    },
    refuseInsideTransaction,
    close: async () => {},
  }
}

const IN_FAILED_TRANSACTION = '25P02'

class SimulatedTransaction implements Transaction, Queryable, OpenTransaction {
  hasEnded = false
  isGone = false
  failure: unknown = null
  readonly #calls: Asked
  readonly #life: Life

  constructor(calls: Asked, life: Life) {
    this.#calls = calls
    this.#life = life
  }

  async query<Row = Record<string, unknown>>(text: string, params: readonly Param[] = []): Promise<Row[]> {
    return (await this.#run({ op: 'query', text, params: params.map(parameterText) })) as Row[]
  }

  async script(text: string): Promise<void> {
    await this.#run({ op: 'script', text })
  }

  async #run(request: Parameters<Calls['ask']>[1]): Promise<unknown[]> {
    if (this.hasEnded) {
      throw new EscapementError('closed', {
        message: 'This transaction has ended. Await its statements before its callback returns.',
      })
    }
    try {
      return await this.#calls.ask(this.#life, request, this)
    } catch (error) {
      // Each later statement only says that the transaction was already aborted.
      if ((error as { code?: string }).code !== IN_FAILED_TRANSACTION) this.failure = error
      throw error
    }
  }
}
