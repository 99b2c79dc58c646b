import { type ErrorCode, type Mistake, mistakesError } from '../errors.js'

/** Notes one mistake and gives `undefined`, so that a reader can `return report(…)`. */
export type Report = (field: string, message: string) => undefined

/** Runs a reader to its end and throws all the mistakes it reported as one error. */
export function readOrThrow<T>(code: ErrorCode, read: (report: Report) => T | undefined): T {
  const mistakes: Mistake[] = []
  const value = read((field, message) => {
    mistakes.push({ field, message })
    return undefined
  })
  if (value === undefined || mistakes.length > 0) throw mistakesError(code, mistakes)
  return value
}

const LONGEST_QUOTE = 80
const HALF_PAIR = /[\uD800-\uDBFF]$/

/** The offending value as it was written, cut so that a message stays readable. */
export function quote(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : printed(value)
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE - 1).replace(HALF_PAIR, '')}…` : text
}

function printed(value: unknown): string {
  if (value instanceof Date) return 'an invalid Date'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return 'a value that is not JSON'
  }
}
