import { isStorable } from '../runs/storable.js'
import { didYouMean } from '../time/did-you-mean.js'
import { quote, type Report } from '../time/report.js'
import type { Action, TransitionValue } from './action.js'
import { HOOKS, type TransitionHooks } from './change.js'

/** What becomes of a table's rows when their time comes. */
export interface TransitionDeclaration extends TransitionHooks {
  /**
   * The column that says that a row is deleted: a timestamp (null means that it is not), or a flag. Rows that are deleted are
   * left alone, but for `hardDelete`.
   */
  softDelete?: string
  /** By due column: what happens at the time that it holds. */
  fields: Readonly<Record<string, Action>>
  /** Instead of the sweeper's option, for this table. */
  indexes?: IndexPolicy
}

export type IndexPolicy = 'create' | 'check'

/** A table by its name: `posts` as the search path finds it, `blog.posts`, or `"odd.name"`; or its parts. */
export type TableName = string | { schema?: string; table: string }

export interface Declaration {
  /** As it was declared, for reports and hooks. */
  name: string
  schema: string | null
  table: string
  softDelete: string | null
  fields: readonly { name: string; action: Action<string, TransitionValue> }[]
  indexes: IndexPolicy | null
  hooks: TransitionHooks
}

const FIELDS = ['softDelete', 'fields', 'indexes', ...HOOKS]
const ACTIONS = 'set(column, { from, to }), softDelete() or hardDelete()'

/** Checks all that can be told without the database. What is unusable is left out of the answer, and reported. */
export function readDeclaration(
  table: TableName,
  given: TransitionDeclaration,
  report: Report,
): Declaration | undefined {
  const parts = readTableName(table, report)
  if (typeof given !== 'object' || given === null)
    return report('declaration', `${quote(given)} – must be an object`)
  for (const field of Object.keys(given)) {
    if (!FIELDS.includes(field)) report(field, `unknown field${didYouMean(field, FIELDS)}`)
  }
  const { softDelete = null, indexes = null } = given
  if (softDelete !== null && !isName(softDelete))
    report('softDelete', `${quote(softDelete)} – must name a column`)
  if (indexes !== null && indexes !== 'create' && indexes !== 'check') {
    report('indexes', `${quote(indexes)} – must be "create" or "check"`)
  }
  for (const hook of HOOKS) {
    const value = given[hook]
    if (value !== undefined && typeof value !== 'function')
      report(hook, `${quote(value)} – must be a function`)
  }
  const fields = readFields(given.fields, report)
  if (fields.some(({ action }) => action.action === 'softDelete') && softDelete === null) {
    report(
      'softDelete',
      'is missing; name the column that softDelete() marks, such as softDelete: "deleted_at"',
    )
  }
  if (parts === undefined) return undefined
  const hooks = Object.fromEntries(HOOKS.filter((hook) => given[hook]).map((hook) => [hook, given[hook]]))
  return { ...parts, softDelete, fields, indexes, hooks }
}

const isName = (value: unknown) => typeof value === 'string' && value !== '' && isStorable(value)

function readFields(given: unknown, report: Report): Declaration['fields'] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    report('fields', `${quote(given)} – must be an object, by due column`)
    return []
  }
  const entries = Object.entries(given)
  if (entries.length === 0) report('fields', 'declares no field; name at least one due column and its action')
  return entries.flatMap(([name, action]) => {
    const read = readAction(action, `fields.${name}`, report)
    return read === undefined ? [] : [{ name, action: read }]
  })
}

function readAction(given: unknown, at: string, report: Report): Action<string, TransitionValue> | undefined {
  if (Array.isArray(given) && given.length > 1) {
    return report(at, `has ${given.length} actions; a field takes exactly one: ${ACTIONS}`)
  }
  const action = (given ?? {}) as Partial<Action<string, TransitionValue>>
  switch (action.action) {
    case 'softDelete':
    case 'hardDelete':
      return { action: action.action }
    case 'set':
      return readSet(action as never, at, report)
    default:
      return report(at, `has no action; give ${ACTIONS}`)
  }
}

function readSet(
  { column, from, to }: { column?: unknown; from?: unknown; to?: unknown },
  at: string,
  report: Report,
): Action<string, TransitionValue> | undefined {
  const hasFrom = from !== undefined
  if (!isName(column)) return report(`${at}.column`, `${quote(column)} – must name a column`)
  if (to === undefined) return report(`${at}.to`, `is missing; say what "${column}" becomes`)
  const isToRight = checkValue(to, `${at}.to`, report)
  if (!((!hasFrom || checkValue(from, `${at}.from`, report)) && isToRight)) return undefined
  return {
    action: 'set',
    column: column as string,
    ...(hasFrom && { from: readValue(from) }),
    to: readValue(to),
  }
}

/** As JSON carries it: reports and hooks of it go there. */
function readValue(value: unknown): TransitionValue {
  return typeof value === 'bigint' ? String(value) : (value as TransitionValue)
}

function checkValue(value: unknown, at: string, report: Report): boolean {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return true
  if (typeof value === 'string' && isStorable(value)) return true
  if (typeof value === 'number' && Number.isFinite(value)) return true
  if (value instanceof Date && !Number.isNaN(value.getTime())) return true
  report(at, `${quote(value)} – must be a text, a number, a boolean, a Date or null`)
  return false
}

const PARTS = /^(?:("(?:[^"]|"")+"|[^".]+)\.)?("(?:[^"]|"")+"|[^".]+)$/

/** Names are taken as they are written, capitals and all; quotes are only needed around a dot or a quote. */
function readTableName(
  given: TableName,
  report: Report,
): Pick<Declaration, 'name' | 'schema' | 'table'> | undefined {
  if (typeof given === 'string' && isStorable(given)) {
    const match = PARTS.exec(given)
    if (match)
      return { name: given, schema: match[1] ? unquoted(match[1]) : null, table: unquoted(match[2]!) }
  }
  const { schema, table } = (typeof given === 'object' && given !== null ? given : {}) as Exclude<
    TableName,
    string
  >
  if (isName(table) && (schema === undefined || isName(schema))) {
    return { name: schema === undefined ? table : `${schema}.${table}`, schema: schema ?? null, table }
  }
  return report('table', `${quote(given)} – must be the name of a table, such as "posts" or "blog.posts"`)
}

function unquoted(part: string): string {
  return part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part
}
