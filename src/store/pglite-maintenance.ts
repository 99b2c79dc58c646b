/**
 * What background processes do for a server and nobody does for PGlite: without checkpoints its log grows for ever,
 * without vacuum a hot table does. After activity, and only then, a look is due; it is taken between two turns, never
 * inside a transaction. Checkpoints go by the growth of the log; vacuum and analyze follow the rule of PostgreSQL's
 * autovacuum, table by table, and leave alone those for which it is turned off.
 */
import type { PGlite } from '@electric-sql/pglite'
import type { MaintenanceLimits } from './pglite-messages.js'

// A constant part, so that small tables are not vacuumed for every change, and a share of the table.
const TABLES_IN_NEED = `
  select format('%I.%I', s.schemaname, s.relname) as name,
         s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
           or s.n_ins_since_vacuum > 1000 + 0.2 * greatest(c.reltuples, 0) as vacuum,
         s.n_mod_since_analyze > 50 + 0.1 * greatest(c.reltuples, 0) as analyze
    from pg_catalog.pg_stat_all_tables s
    join pg_catalog.pg_class c on c.oid = s.relid
   where s.schemaname <> 'pg_toast' and s.schemaname not like 'pg\\_temp\\_%'
     and not exists (select from pg_catalog.pg_options_to_table(c.reloptions)
                      where option_name = 'autovacuum_enabled' and not option_value::boolean)`

export class Maintenance {
  readonly #engine: PGlite
  readonly #limits: MaintenanceLimits
  readonly #wake: () => void
  /** The log's position at the last checkpoint; unknown at first, so that the first look makes one. */
  #checkpointAt: number | null = null
  #timers = new Map<'log' | 'tables', NodeJS.Timeout>()
  #due = new Set<'log' | 'tables'>()

  /** `wake` asks for a turn in which `run` is called. */
  constructor(engine: PGlite, limits: MaintenanceLimits, wake: () => void) {
    this.#engine = engine
    this.#limits = limits
    this.#wake = wake
  }

  /** After each request: whatever it was, it may have written. */
  noteActivity(): void {
    this.#arm('log', this.#limits.lookAtLogMs)
    this.#arm('tables', this.#limits.lookAtTablesMs)
  }

  get isDue(): boolean {
    return this.#due.size > 0
  }

  async run(): Promise<void> {
    const due = this.#due
    this.#due = new Set()
    if (due.has('tables')) await this.#tidyTables()
    if (due.has('log')) await this.#boundLog()
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }

  #arm(what: 'log' | 'tables', afterMs: number): void {
    if (this.#timers.has(what) || this.#due.has(what)) return
    const look = () => {
      this.#timers.delete(what)
      this.#due.add(what)
      this.#wake()
    }
    this.#timers.set(what, setTimeout(look, afterMs))
  }

  async #boundLog(): Promise<void> {
    const written = await this.#logPosition()
    if (this.#checkpointAt !== null && written - this.#checkpointAt < this.#limits.checkpointAfterBytes)
      return
    await this.#engine.exec('checkpoint')
    this.#checkpointAt = await this.#logPosition()
  }

  async #logPosition(): Promise<number> {
    const { rows } = await this.#engine.query<{ bytes: number }>(
      `select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`,
    )
    return rows[0]!.bytes
  }

  async #tidyTables(): Promise<void> {
    // Counters reach the statistics views when they are flushed, at the end of the next transaction.
    await this.#engine.query('select pg_stat_force_next_flush()')
    await this.#engine.query('select 1')
    const { rows } = await this.#engine.query<{ name: string; vacuum: boolean; analyze: boolean }>(
      TABLES_IN_NEED,
    )
    for (const { name, vacuum, analyze } of rows) {
      if (vacuum) await this.#engine.exec(`vacuum (analyze ${analyze}) ${name}`)
      else if (analyze) await this.#engine.exec(`analyze ${name}`)
    }
  }
}
