/**
 * Where a text stops being JSON, by line and column, and what was expected there. Browsers know it too, but each tells it in words of its
 * own, and not always where.
 */
export function jsonMistake(text: string): string | undefined {
  const at = { text, index: 0 }
  try {
    readValue(at)
    if (skipSpace(at) < text.length) fail(at, 'nothing more')
  } catch (error) {
    if (!(error instanceof Expected)) throw error
    const before = text.slice(0, error.index).split('\n')
    const found =
      error.index >= text.length ? 'the text ends here' : `found ${JSON.stringify(text[error.index])}`
    return `line ${before.length}, column ${before.at(-1)!.length + 1}: expected ${error.message}; ${found}`
  }
  return undefined
}

class Expected extends Error {
  readonly index: number

  constructor(index: number, what: string) {
    super(what)
    this.index = index
  }
}

interface Place {
  readonly text: string
  index: number
}

function fail({ index }: Place, what: string): never {
  throw new Expected(index, what)
}

function skipSpace(at: Place): number {
  while (/[ \t\r\n]/.test(at.text[at.index] ?? '')) at.index += 1
  return at.index
}

/** Takes the character if it is the next one. */
function took(at: Place, character: string): boolean {
  skipSpace(at)
  if (at.text[at.index] !== character) return false
  at.index += 1
  return true
}

const WORD = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
const A_VALUE = 'a value: a text in double quotes, a number, true, false, null, [ or {'

function readValue(at: Place): void {
  if (took(at, '{')) readList(at, '}', readEntry)
  else if (took(at, '[')) readList(at, ']', readValue)
  else if (at.text[at.index] === '"') readString(at)
  else if (!tookMatch(at, WORD)) fail(at, A_VALUE)
}

function readList(at: Place, end: string, readItem: (at: Place) => void): void {
  if (took(at, end)) return
  do readItem(at)
  while (took(at, ','))
  if (!took(at, end)) fail(at, `"," or "${end}"`)
}

function readEntry(at: Place): void {
  skipSpace(at)
  if (at.text[at.index] !== '"') fail(at, 'a name in double quotes')
  readString(at)
  if (!took(at, ':')) fail(at, '":"')
  readValue(at)
}

function readString(at: Place): void {
  at.index += 1
  for (;;) {
    const character = at.text[at.index] ?? ''
    if (character === '"') break
    if (character === '\\') {
      if (!tookMatch(at, ESCAPE)) fail(at, 'an escape such as \\n or \\u00e9, or "\\\\" for a backslash')
    } else if (character < ' ') {
      fail(at, `the end of the text, '"'`)
    } else at.index += 1
  }
  at.index += 1
}

function tookMatch(at: Place, pattern: RegExp): boolean {
  pattern.lastIndex = at.index
  const match = pattern.exec(at.text)
  at.index += match?.[0].length ?? 0
  return match !== null
}
