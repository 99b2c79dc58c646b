import { EscapementError, type Mistake } from '../../../../src/errors.js'

/** What the server has refused, by field; empty where it is about none. */
export function mistakesIn(error: Error | null): readonly Mistake[] {
  if (!(error instanceof EscapementError)) return []
  const { mistakes } = error.details as { mistakes?: readonly Mistake[] }
  if (mistakes !== undefined) {
    // A diff is asked for with the fields in an object of their own.
    return mistakes.map(({ field, message }) => ({ field: field.replace(/^fields\./, ''), message }))
  }
  const field = FIELDS[error.code]
  return field === undefined ? [] : [{ field, message: error.message.replace(`${field}: `, '') }]
}

const FIELDS: Partial<Record<EscapementError['code'], string>> = {
  schedule_exists: 'name',
  unknown_job: 'job',
  gate_closed: 'job',
  gate_unavailable: 'job',
}
