import { AsyncResource } from 'node:async_hooks'
import type { Clock } from '../clock.js'
import { EscapementError } from '../errors.js'
import type { EventBus } from '../events/bus.js'
import type { Logger } from '../logger.js'
import { storablePrefix, storableText } from '../runs/storable.js'
import { type HeldLease, type ProgressReport, recordProgress } from '../store/queries/leases.js'
import type { Store } from '../store/store.js'

const WRITE_EVERY_MS = 1_000
const LONGEST_NOTE = 1_000
const LARGEST_TOTALS_BYTES = 16 * 1024

/** Writes down what handlers say of their progress, all together about once a second. */
export interface ProgressWriter {
  write(report: ProgressReport): void
  stop(): void
}

export function createProgressWriter(
  store: Store,
  clock: Clock,
  bus: EventBus,
  logger: Logger,
): ProgressWriter {
  const changed = new Set<ProgressReport>()
  let stopTimer: (() => void) | undefined

  // Bound to where the writer was made: its timer is set by handlers, some of which are inside a transaction.
  const writeAll = AsyncResource.bind(async () => {
    stopTimer = undefined
    const reports = [...changed]
    changed.clear()
    try {
      await recordProgress(store, reports)
      for (const { runId, scheduleId, fraction, note } of reports) {
        bus.emit('run.progress', { runId, scheduleId, fraction, note })
      }
    } catch (error) {
      // It is for those who watch: the next word replaces it.
      logger.warn({ err: error, runs: reports.length }, 'progress could not be written down')
    }
  })

  return {
    write(report) {
      changed.add(report)
      stopTimer ??= clock.after(WRITE_EVERY_MS, writeAll)
    },
    stop() {
      stopTimer?.()
      stopTimer = undefined
    },
  }
}

/** What a handler says while it works. Its functions can be taken off. */
export class Telling {
  readonly #lease: HeldLease
  readonly #scheduleId: string | null
  readonly #writer: ProgressWriter
  readonly #renew: (lease: HeldLease) => Promise<void>
  #report: ProgressReport | undefined

  constructor(
    lease: HeldLease,
    scheduleId: string | null,
    writer: ProgressWriter,
    renew: (lease: HeldLease) => Promise<void>,
  ) {
    this.#lease = lease
    this.#scheduleId = scheduleId
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
    const kept = (note ?? null) && storablePrefix(String(note), LONGEST_NOTE)
    this.#say({ fraction, note: kept })
  }

  readonly totals = (counters: Readonly<Record<string, number>>): void => {
    this.#say({ totals: added(this.counted ?? {}, counters) })
  }

  readonly heartbeat = (): Promise<void> => this.#renew(this.#lease)

  #say(news: Partial<ProgressReport>): void {
    const { runId, lotId, leaseToken } = this.#lease
    this.#report ??= {
      runId,
      lotId,
      leaseToken,
      scheduleId: this.#scheduleId,
      fraction: null,
      note: null,
      totals: null,
    }
    Object.assign(this.#report, news)
    this.#writer.write(this.#report)
  }
}

function added(
  totals: Readonly<Record<string, number>>,
  counters: Readonly<Record<string, number>>,
): Record<string, number> {
  // Without a prototype: a counter may be called `constructor`, or `__proto__`.
  const sums: Record<string, number> = Object.assign(Object.create(null), totals)
  for (const [given, count] of Object.entries(counters)) {
    const name = storableText(given)
    if (!Number.isFinite(count)) throw refused(name, `${String(count)} – must be a number`)
    sums[name] = (sums[name] ?? 0) + count
    if (!Number.isFinite(sums[name])) throw refused(name, 'its sum is larger than a number can be')
  }
  if (Buffer.byteLength(JSON.stringify(sums)) > LARGEST_TOTALS_BYTES) {
    throw new EscapementError('option_invalid', { message: 'totals: they hold at most 16 KiB of JSON' })
  }
  return sums
}

function refused(name: string, message: string): EscapementError {
  return new EscapementError('option_invalid', { message: `totals.${name}: ${message}` })
}
