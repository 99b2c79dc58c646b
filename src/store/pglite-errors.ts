import { EscapementError } from '../errors.js'
import { type ErrorFields, POSTGRES_FIELDS, type PostgresField } from './pglite-messages.js'

export function errorFields(error: unknown): ErrorFields {
  if (error instanceof EscapementError) {
    return { message: error.message, escapement: { code: error.code, details: error.details } }
  }
  if (!(error instanceof Error)) return { message: String(error) }
  const postgres: Partial<Record<PostgresField, string>> = {}
  for (const field of POSTGRES_FIELDS) {
    const value = (error as unknown as Record<string, unknown>)[field]
    if (typeof value === 'string') postgres[field] = value
  }
  return { message: error.message || error.name, postgres }
}

/** To be called where the statement was awaited, so that the stack leads to the caller. */
export function errorFromFields({ message, escapement, postgres }: ErrorFields): Error {
  if (escapement) return new EscapementError(escapement.code, { message, details: escapement.details })
  return Object.assign(new Error(message), postgres)
}
