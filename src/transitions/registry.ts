import type { SweptTable } from './table.js'

/** The tables that this process has declared, in that order. */
export interface TransitionRegistry {
  add(table: SweptTable): void
  has(table: Pick<SweptTable, 'schema' | 'table'>): boolean
  all(): readonly SweptTable[]
}

export function createTransitionRegistry(): TransitionRegistry {
  const tables: SweptTable[] = []
  return {
    add: (table) => void tables.push(table),
    has: ({ schema, table }) => tables.some((known) => known.schema === schema && known.table === table),
    all: () => tables,
  }
}
