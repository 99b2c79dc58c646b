/**
 * PostgreSQL stores neither U+0000 nor half a surrogate pair, in text or in jsonb. What people put is refused with
 * these in it; what a handler returns or throws is mended, since the work is done and its outcome must be kept.
 */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

const UNSTORABLE_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/i

/** For text that JSON.stringify made: it writes both offenders, and only them, as escapes of these forms. */
export function isStorableJson(json: string): boolean {
  return !UNSTORABLE_ESCAPE.test(json)
}

/** With the replacement character in place of what cannot be stored. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** JSON of any value, mended; null where there is nothing that JSON could carry. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value) ?? 'null'
  if (isStorableJson(json)) return json
  return JSON.stringify(mend(JSON.parse(json)))
}

function mend(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(mend)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableText(key), mend(item)]))
}
