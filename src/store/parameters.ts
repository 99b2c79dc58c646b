import type { Param, ScalarParam } from './database.js'

/**
 * The text form of a parameter, as PostgreSQL's own input functions read it. Sending text for every type leaves
 * the interpretation to the server, so that a parameter means the same whatever driver carries it.
 */
export function parameterText(param: Param): string | null {
  if (param === null || param === undefined) return null
  return Array.isArray(param) ? arrayText(param) : scalarText(param as Exclude<ScalarParam, null>)
}

function scalarText(value: Exclude<ScalarParam, null>): string {
  return value instanceof Date ? value.toISOString() : String(value)
}

/** One text grown in place: a batch sends many thousands of elements, and neighbours are often the same. */
function arrayText(values: readonly ScalarParam[]): string {
  let text = '{'
  let latest: ScalarParam | undefined
  let latestText = elementText(latest)
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    if (value !== latest) {
      latest = value
      latestText = elementText(value)
    }
    text += index === 0 ? latestText : `,${latestText}`
  }
  return `${text}}`
}

/** Begins with a digit or is an id, so it is not spelled NULL, and has nothing that means anything between braces: ids and times, mostly. */
const PLAIN = /^(?:[0-9][\w.:+-]*|[0-9a-f]{8}-[0-9a-f-]*)$/

/** Quoted, so that an element spelled NULL, an empty one, or one with braces and commas stays itself. */
function elementText(value: ScalarParam | undefined): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'number') return String(value)
  const text = scalarText(value)
  return PLAIN.test(text) ? text : `"${text.replace(/[\\"]/g, '\\$&')}"`
}
