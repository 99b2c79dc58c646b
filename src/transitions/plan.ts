import type { SweptTable } from './table.js'

/** What a sweep reads of a row that it has locked. Fields go by their place in the declaration. */
export interface LockedRow {
  /** Fields whose time has come, by due value; those that were applied or set aside for that value are not among them. */
  due: readonly number[]
  /** By field: whether what it writes is as the field asks for. */
  matches: readonly boolean[]
  isDeleted: boolean
}

export interface Step {
  field: number
  /** The field whose step wrote the value that this one replaces; null for the row's own. */
  after: number | null
}

export interface RowPlan {
  steps: readonly Step[]
  /** By column: the field whose value it has in the end. */
  columns: ReadonlyMap<string, number>
  softDeletes: boolean
  hardDeletes: boolean
}

/**
 * What becomes of a row: its due fields in the order of their due values, each on what the one before has left, until none
 * is left that applies. A field that one later in time has made applicable gets its turn then, as it would in the next sweep.
 */
export function planRow(
  table: Pick<SweptTable, 'fields'>,
  row: LockedRow,
  mostSteps = Number.POSITIVE_INFINITY,
): RowPlan {
  const waiting = [...row.due]
  const steps: Step[] = []
  const columns = new Map<string, number>()
  let { isDeleted } = row
  let hardDeletes = false

  const applies = (index: number) => {
    const { action } = table.fields[index]!
    if (action.action === 'hardDelete') return true
    if (isDeleted) return false
    if (action.action === 'softDelete') return true
    const writer = columns.get(action.column)
    return writer === undefined ? row.matches[index]! : fits(index, writer)
  }
  const fits = (index: number, writer: number) => {
    const { from, to } = table.fields[index]!.classes!
    const value = table.fields[writer]!.classes!.to
    return from === null ? value !== to : value === from
  }

  while (steps.length < mostSteps && !hardDeletes) {
    const place = waiting.findIndex(applies)
    if (place === -1) break
    const [field] = waiting.splice(place, 1) as [number]
    const { action } = table.fields[field]!
    const after = action.action === 'set' ? (columns.get(action.column) ?? null) : null
    steps.push({ field, after })
    if (action.action === 'set') columns.set(action.column, field)
    else if (action.action === 'softDelete') isDeleted = true
    else hardDeletes = true
  }
  return { steps, columns, softDeletes: isDeleted && !row.isDeleted, hardDeletes }
}
