import type { Transition } from '../../api/client.ts'

type Field = Pick<Transition['fields'][number], 'action' | 'column' | 'from' | 'to'>

/** What becomes of a row: `status goes from “draft” to “published”`. */
export function actionWords({ action, column, from, to }: Field): string {
  if (action === 'hardDelete') return 'the row is deleted for good'
  if (action === 'softDelete') return `the row is marked as deleted in ${column}`
  return from === undefined
    ? `${column} becomes ${value(to)}`
    : `${column} goes from ${value(from)} to ${value(to)}`
}

const value = (given: unknown) => (typeof given === 'string' ? `“${given}”` : JSON.stringify(given))
