import type { Param, ScalarParam } from './database.js'

/**
 * The text form of a parameter, as PostgreSQL's own input functions read it. Sending text for every type leaves
 * the interpretation to the server, so that a parameter means the same whatever driver carries it.
 */
export function parameterText(param: Param): string | null {
  if (param === null || param === undefined) return null
  if (Array.isArray(param)) return `{${param.map(elementText).join(',')}}`
  return scalarText(param as Exclude<ScalarParam, null>)
}

function scalarText(value: Exclude<ScalarParam, null>): string {
  return value instanceof Date ? value.toISOString() : String(value)
}

/** Always quoted, so that an element spelled NULL, an empty one, or one with braces and commas stays itself. */
function elementText(value: ScalarParam): string {
  if (value === null || value === undefined) return 'NULL'
  return `"${scalarText(value).replace(/[\\"]/g, '\\$&')}"`
}
