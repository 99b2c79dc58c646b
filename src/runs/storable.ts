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

/** At most that many characters, and never half a surrogate pair. */
export function storablePrefix(text: string, longest: number): string {
  const cutsPair = text.length > longest && (text.charCodeAt(longest - 1) & 0xfc00) === 0xd800
  return storableText(text.slice(0, cutsPair ? longest - 1 : longest))
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

/** Where a value is not what JSON would make of it: the path and why; null where it is JSON through and through. */
export function jsonMistake(value: unknown, path: string): { field: string; message: string } | null {
  const refuse = (message: string) => ({ field: path, message })
  switch (typeof value) {
    case 'string':
      return isStorable(value)
        ? null
        : refuse('holds U+0000 or half a surrogate pair, which jsonb cannot store')
    case 'number':
      return Number.isFinite(value) ? null : refuse(`${value} – is no JSON number`)
    case 'boolean':
      return null
    case 'object':
      return value === null ? null : objectMistake(value, path)
    default:
      return refuse(`a ${typeof value} – is not JSON`)
  }
}

/** Paths are put together on the way back from a mistake: there are many values, and mistakes are few. */
function objectMistake(value: object, path: string) {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const mistake = jsonMistake(value[index], '')
      if (mistake) return { ...mistake, field: `${path}[${index}]${mistake.field}` }
    }
    return null
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    return {
      field: path,
      message: `a ${prototype.constructor?.name ?? 'class'} – is not JSON; give text or a plain object`,
    }
  }
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key]
    if (item === undefined) continue
    if (!isStorable(key)) return { field: path, message: 'has a key with U+0000 or half a surrogate pair' }
    const mistake = jsonMistake(item, '')
    if (mistake) return { ...mistake, field: `${path}.${key}${mistake.field}` }
  }
  return null
}

/** What a run keeps of what its handler returned, as JSON. */
export const LARGEST_RESULT_BYTES = 16 * 1024
