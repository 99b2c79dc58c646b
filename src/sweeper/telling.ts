import type { Clock } from '../clock.js'
import { within } from '../deadline.js'
import type { EventBus } from '../events/bus.js'
import type { Logger } from '../logger.js'
import type { Transaction } from '../store/database.js'
import { isCutOff } from '../store/refusal.js'
import type { TransitionChange, TransitionHooks } from '../transitions/change.js'

/** How long a hook is waited for that is told of a change. */
const PATIENCE_MS = 30_000

type Told = 'onApplied' | 'onSet' | 'onDelete'

/**
 * Tells of changes that are committed: the events, then the hooks, one change after the other. A hook that does not come back is
 * told of the others of the batch as well, but no longer waited for.
 */
export async function tellChanges(
  changes: readonly TransitionChange[],
  {
    clock,
    bus,
    logger,
    hooks,
    onTold,
  }: {
    clock: Clock
    bus: EventBus
    logger: Logger
    hooks: readonly TransitionHooks[]
    onTold: () => void
  },
): Promise<void> {
  const givenUp = new Set<unknown>()
  for (const change of changes) {
    bus.emit('transition.applied', change)
    for (const each of hooks) {
      for (const name of ['onApplied', change.action === 'set' ? 'onSet' : 'onDelete'] as const) {
        const hook = each[name]
        if (!hook) continue
        const told = call(each, name, change, logger).then(() => true)
        onTold()
        if (givenUp.has(hook) || (await within(clock, PATIENCE_MS, told, () => false))) continue
        givenUp.add(hook)
        logger.error(
          { table: change.table, key: change.key, field: change.field, hook: name },
          `a hook of a transition has not come back after ${PATIENCE_MS / 1000} seconds, and is no longer waited for`,
        )
      }
    }
  }
}

/** Never rejects: what it was told of has happened. */
async function call(
  hooks: TransitionHooks,
  name: Told,
  change: TransitionChange,
  logger: Logger,
): Promise<void> {
  const { table, key, field, column, to } = change
  try {
    if (name === 'onApplied') await hooks.onApplied?.(change)
    else if (name === 'onSet') await hooks.onSet?.(table, key, column!, to)
    else await hooks.onDelete?.(table, key)
  } catch (error) {
    logger.error({ table, key, field, hook: name, err: error }, 'a hook of a transition threw')
  }
}

/** As long as the server leaves a transaction open in which nothing is asked for. */
const SILENT_MS = 5_000

/** A hook took exception to the batch, or took too long for it. */
export class HookFailure extends Error {
  /** Whether fewer rows may do. */
  readonly isCutOff: boolean

  constructor(message: string, isCutOff: boolean, options?: ErrorOptions) {
    super(`inTransaction: ${message}`, options)
    this.isCutOff = isCutOff
  }
}

/** Lets the hooks write with the batch. What they throw, or do not come back from, is the failure of the batch. */
export async function tellInTransaction(
  { hooks, clock }: { hooks: readonly TransitionHooks[]; clock: Clock },
  tx: Transaction,
  changes: readonly TransitionChange[],
): Promise<void> {
  for (const { inTransaction } of hooks) {
    if (!inTransaction) continue
    const silence = createSilence(clock)
    try {
      const told = inTransaction({ query: (text, params) => silence.broken(tx.query(text, params)) }, changes)
      await Promise.race([told, silence.tooLong])
    } catch (error) {
      if (error instanceof HookFailure) throw error
      const message = error instanceof Error ? error.message : String(error)
      throw new HookFailure(message, isCutOff(error), { cause: error })
    } finally {
      silence.end()
    }
  }
}

/** Rejects once nothing has been under way for too long. */
function createSilence(clock: Clock) {
  let pending = 0
  let end = () => {}
  let reject: (error: Error) => void
  const tooLong = new Promise<never>((_, fail) => {
    reject = fail
  })
  const begin = () => {
    end = clock.after(SILENT_MS, () =>
      reject(new HookFailure(`nothing was heard of it for ${SILENT_MS / 1000} seconds`, true)),
    )
  }
  begin()
  return {
    tooLong,
    end: () => end(),
    async broken<T>(statement: Promise<T>): Promise<T> {
      end()
      pending += 1
      try {
        return await statement
      } finally {
        pending -= 1
        if (pending === 0) begin()
      }
    },
  }
}
