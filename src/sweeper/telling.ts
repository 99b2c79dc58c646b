import type { EventBus } from '../events/bus.js'
import type { Logger } from '../logger.js'
import type { TransitionChange, TransitionHooks } from '../transitions/change.js'

/** Tells of changes that are committed: the events, then the hooks, one change after the other. */
export async function tellChanges(
  changes: readonly TransitionChange[],
  { bus, logger, hooks }: { bus: EventBus; logger: Logger; hooks: readonly TransitionHooks[] },
): Promise<void> {
  for (const change of changes) {
    bus.emit('transition.applied', change)
    for (const each of hooks) await call(each, change, logger)
  }
}

async function call(
  { onApplied, onSet, onDelete }: TransitionHooks,
  change: TransitionChange,
  logger: Logger,
) {
  const { table, key, action, column, to } = change
  const short = action === 'set' ? () => onSet?.(table, key, column!, to) : () => onDelete?.(table, key)
  for (const hook of [() => onApplied?.(change), short]) {
    try {
      await hook()
    } catch (error) {
      // What it was told of has happened.
      logger.error({ table, key, field: change.field, err: error }, 'a hook of a transition threw')
    }
  }
}
