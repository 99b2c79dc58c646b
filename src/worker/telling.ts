import { EscapementError } from '../errors.js'
import type { EventBus } from '../events/bus.js'
import type { Logger } from '../logger.js'
import { type HeldLease, type ProgressReport, recordProgress } from '../store/queries/leases.js'
import type { Store } from '../store/store.js'

const WRITE_EVERY_MS = 1_000
const LARGEST_TOTALS_BYTES = 16 * 1024

/** Writes down what handlers say of their progress, all together about once a second. */
export interface ProgressWriter {
  write(report: ProgressReport): void
  stop(): void
}

export function createProgressWriter(store: Store, bus: EventBus, logger: Logger): ProgressWriter {
  const changed = new Set<ProgressReport>()
  let timer: NodeJS.Timeout | undefined

  async function writeAll(): Promise<void> {
    timer = undefined
    const reports = [...changed]
    changed.clear()
    try {
      await recordProgress(store, reports)
      for (const { runId, fraction, note } of reports) bus.emit('run.progress', { runId, fraction, note })
    } catch (error) {
      // It is for those who watch: the next word replaces it.
      logger.warn({ err: error, runs: reports.length }, 'progress could not be written down')
    }
  }

  return {
    write(report) {
      changed.add(report)
      timer ??= setTimeout(writeAll, WRITE_EVERY_MS).unref()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/** What a handler says while it works. Its functions can be taken off. */
export class Telling {
  readonly #lease: HeldLease
  readonly #writer: ProgressWriter
  readonly #renew: (lease: HeldLease) => Promise<void>
  #report: ProgressReport | undefined

  constructor(lease: HeldLease, writer: ProgressWriter, renew: (lease: HeldLease) => Promise<void>) {
    this.#lease = lease
    this.#writer = writer
    this.#renew = renew
  }

  /** The counters that the handler has added up so far. */
  get counted(): ProgressReport['totals'] {
    return this.#report?.totals ?? null
  }

  readonly progress = (fraction: number, note?: string): void => {
    if (!(fraction >= 0 && fraction <= 1)) {
      throw new EscapementError('option_invalid', {
        message: `fraction: ${String(fraction)} – must be a number from 0 to 1`,
      })
    }
    this.#say({ fraction, note: note ?? null })
  }

  readonly totals = (counters: Readonly<Record<string, number>>): void => {
    this.#say({ totals: added(this.counted ?? {}, counters) })
  }

  readonly heartbeat = (): Promise<void> => this.#renew(this.#lease)

  #say(news: Partial<ProgressReport>): void {
    const { runId, leaseToken } = this.#lease
    this.#report ??= { runId, leaseToken, fraction: null, note: null, totals: null }
    Object.assign(this.#report, news)
    this.#writer.write(this.#report)
  }
}

function added(
  totals: Readonly<Record<string, number>>,
  counters: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum = { ...totals }
  for (const [name, count] of Object.entries(counters)) {
    if (!Number.isFinite(count)) {
      throw new EscapementError('option_invalid', {
        message: `totals.${name}: ${String(count)} – must be a number`,
      })
    }
    sum[name] = (sum[name] ?? 0) + count
  }
  if (Buffer.byteLength(JSON.stringify(sum)) > LARGEST_TOTALS_BYTES) {
    throw new EscapementError('option_invalid', { message: 'totals: they hold at most 16 KiB of JSON' })
  }
  return sum
}
