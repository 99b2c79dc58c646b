import { requestInvalid } from './checking.js'

export const REDACTED = '[redacted]'

export interface Redaction {
  /** Whether anything is hidden at all. */
  readonly redacts: boolean
  /** A copy of an answer without the values of these fields; the same where there are none. */
  hide<T>(answer: T): T
  /** Refuses a body that would put what was hidden in place of what is kept. */
  check(body: unknown): void
}

/** The fields of an answer that hold what users put there. */
const THEIRS = ['input', 'result', 'metadata', 'before', 'after', 'snapshot']

export function createRedaction(names: readonly string[]): Redaction {
  const hidden = new Set(names.map((name) => name.toLowerCase()))
  if (hidden.size === 0) return { redacts: false, hide: (answer) => answer, check() {} }

  const isHidden = (key: string, item: unknown) => hidden.has(key.toLowerCase()) && item !== null

  function within(value: unknown): unknown {
    return mapped(value, (key, item) => (isHidden(key, item) ? REDACTED : within(item)))
  }

  function around(value: unknown): unknown {
    return mapped(value, (key, item) =>
      THEIRS.includes(key) ? (isHidden(key, item) ? REDACTED : within(item)) : around(item),
    )
  }

  return {
    redacts: true,
    hide: <T>(answer: T) => around(answer) as T,
    check(body) {
      if (!holdsRedacted(body)) return
      throw requestInvalid([
        {
          field: 'body',
          message: `holds "${REDACTED}", which stands for a value that is not shown: leave it out`,
        },
      ])
    },
  }
}

/** Dates stay what they are. */
function mapped(value: unknown, change: (key: string, item: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(key, item)]))
}

/** Wherever users put values of their own; elsewhere it is a word like any other. */
function holdsRedacted(body: unknown): boolean {
  if (Array.isArray(body)) return body.some(holdsRedacted)
  if (typeof body !== 'object' || body === null) return false
  return Object.entries(body).some(([key, item]) =>
    key === 'input' || key === 'metadata'
      ? JSON.stringify(item ?? null).includes(`"${REDACTED}"`)
      : holdsRedacted(item),
  )
}
