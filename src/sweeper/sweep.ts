/**
 * One batch of one table, in one transaction: due rows are locked, looked at again, planned in memory and changed in one
 * statement together with their log. Dying anywhere in here leaves nothing behind.
 *
 * What the database refuses is halved under a savepoint until the row that it refuses stands alone; that one is set aside, and the
 * others are done in the same transaction.
 */

import { applyPlans, type PlannedRow, type StepOutcome } from '../store/queries/transition-apply.js'
import { KEPT_BACK, setKeptBackAside, setRefusedAside } from '../store/queries/transition-quarantine.js'
import { lockDueRows, readLockedRows } from '../store/queries/transition-sweep.js'
import { isRowFault, isTableFault } from '../store/refusal.js'
import type { Session, Store } from '../store/store.js'
import type { TransitionValue } from '../transitions/action.js'
import {
  noCounts,
  type SweepCounts,
  type SweepReport,
  type TransitionChange,
  type TransitionHooks,
} from '../transitions/change.js'
import { planRow } from '../transitions/plan.js'
import { type SweptField, type SweptTable, writtenColumn } from '../transitions/table.js'
import { tellInTransaction } from './telling.js'

export interface TableSweep {
  counts: SweepCounts
  changes: TransitionChange[]
  /** Of rows that were set aside. */
  errors: SweepReport['errors']
}

export async function sweepTable(
  store: Store,
  table: SweptTable,
  { batchSize, hooks }: { batchSize: number; hooks: readonly TransitionHooks[] },
): Promise<TableSweep> {
  return store.transaction(async (session, tx) => {
    // What is checked at the commit only would undo the whole batch there.
    await session.query('set constraints all immediate')
    // One more than are taken, to know whether any are left.
    const locked = await lockDueRows(session, table, batchSize + 1)
    const { rows, now } = await readLockedRows(session, table, locked.slice(0, batchSize))
    const planned = rows
      .map((row) => ({ row, plan: planRow(table, row) }))
      .filter(({ plan }) => plan.steps.length > 0)
    const sweep: TableSweep = { counts: noCounts(), changes: [], errors: [] }
    sweep.counts.skipped = Math.min(locked.length, batchSize) - planned.length
    sweep.counts.truncated = locked.length > batchSize
    if (now !== null)
      await applyBatch({ session, table, now, sweep, size: planned.length, refusals: [], moved: 0 }, planned)
    if (sweep.changes.length > 0) await tellInTransaction({ hooks, clock: store.clock }, tx, sweep.changes)
    return sweep
  })
}

interface Batch {
  session: Session
  table: SweptTable
  now: Date
  sweep: TableSweep
  /** How many rows it has in all. */
  size: number
  /** The errors of those that were refused by themselves. */
  refusals: Error[]
  /** How many of them triggers of other rows have written meanwhile. */
  moved: number
}

async function applyBatch(batch: Batch, planned: readonly PlannedRow[]): Promise<void> {
  const { refusals, size, sweep } = batch
  await applyHalving(batch, planned)
  if (size > 0 && refusals.length === size && refusals.every(isTableFault)) throw refusals[0]!
  sweep.counts.skipped += batch.moved
  // Where nothing was changed the next sweep would do just the same: that one need not follow at once.
  if (batch.moved > 0 && sweep.changes.length > 0) sweep.counts.truncated = true
}

async function applyHalving(batch: Batch, planned: readonly PlannedRow[]): Promise<void> {
  if (planned.length === 0) return
  const error = await tryApply(batch, planned)
  if (error === null) return
  if (planned.length > 1) {
    const middle = Math.ceil(planned.length / 2)
    await applyHalving(batch, planned.slice(0, middle))
    await applyHalving(batch, planned.slice(middle))
    return
  }
  await applyAlone(batch, planned[0]!, error)
}

/**
 * A row that is refused: its first step may go without the others, which the next sweep then finds. What is refused by itself
 * is set aside.
 */
async function applyAlone(batch: Batch, { row, plan }: PlannedRow, error: Error): Promise<void> {
  const { session, table, now, sweep } = batch
  let refusal: Error | null = error
  if (plan.steps.length > 1) {
    const first = planRow(table, row, 1)
    refusal = await tryApply(batch, [{ row, plan: first }])
    sweep.counts.truncated = true
  }
  if (refusal === null) return
  batch.refusals.push(refusal)
  const reason = { code: String((refusal as { code?: unknown }).code), message: refusal.message, now }
  const key = await setRefusedAside(session, table, { row, field: plan.steps[0]!.field }, reason)
  sweep.counts.quarantined += 1
  sweep.errors.push({ table: table.name, ...(key && { key }), message: refusal.message })
}

/** The error of the database if it refuses what is in these rows, which are then as they were. */
async function tryApply(batch: Batch, planned: readonly PlannedRow[]): Promise<Error | null> {
  const { session } = batch
  await session.query('savepoint batch')
  try {
    await applyKept(batch, planned)
    // Where all went well the commit ends it.
    if (planned.length < batch.size) await session.query('release savepoint batch')
    return null
  } catch (error) {
    if (!isRowFault(error)) throw error
    await session.query('rollback to savepoint batch')
    await session.query('release savepoint batch')
    return error as Error
  }
}

/**
 * A row of several steps that a trigger keeps from its end has its first step alone, as one that is refused: what became
 * of all of them is undone, and done again without the others.
 */
async function applyKept(batch: Batch, planned: readonly PlannedRow[]): Promise<void> {
  const { session, table, now, sweep } = batch
  const outcomes = await applyPlans(session, table, planned, now)
  const halfway = new Set(
    outcomes.flatMap(({ row, step, keptBack }) => (step > 0 && keptBack !== null ? [row] : [])),
  )
  if (halfway.size > 0) {
    await session.query('rollback to savepoint batch')
    const shortened = planned.map(({ row, plan }, place) => ({
      row,
      plan: halfway.has(place) ? planRow(table, row, 1) : plan,
    }))
    await applyKept(batch, shortened)
    sweep.counts.truncated = true
    return
  }
  const kept = outcomes.flatMap(({ row, step, key, keptBack }) =>
    keptBack === null ? [] : [{ field: planned[row]!.plan.steps[step]!.field, row: keptBack, key }],
  )
  const aside = kept.length === 0 ? [] : await setKeptBackAside(session, table, kept, now)
  sweep.counts.quarantined += aside.length
  sweep.counts.skipped += kept.length - aside.length
  sweep.errors.push(
    ...aside.map((place) => ({ table: table.name, key: kept[place]!.key, message: KEPT_BACK })),
  )
  batch.moved += planned.length - new Set(outcomes.map(({ row }) => row)).size
  for (const outcome of outcomes) {
    if (outcome.keptBack !== null) continue
    const change = changeOf(table, planned, outcome, now)
    sweep.changes.push(change)
    if (change.action === 'set') sweep.counts.updated += 1
    else sweep.counts.deleted += 1
  }
}

function changeOf(
  table: SweptTable,
  planned: readonly PlannedRow[],
  { row, step, key, dueAt, original }: StepOutcome,
  now: Date,
): TransitionChange {
  const { field: index, after } = planned[row]!.plan.steps[step]!
  const field = table.fields[index]!
  const { action } = field
  const before = after === null ? null : table.fields[after]!.action
  return {
    table: table.name,
    key,
    field: field.name,
    action: action.action,
    column: writtenColumn(table, field),
    from: before?.action === 'set' ? before.to : original,
    to: written(table, action, now),
    dueAt,
    appliedAt: now,
  }
}

/** What a field writes; null where it deletes the row. */
function written(table: SweptTable, action: SweptField['action'], now: Date): TransitionValue {
  if (action.action === 'set') return action.to
  if (action.action === 'hardDelete') return null
  return table.softDelete!.kind === 'flag' ? true : now
}
