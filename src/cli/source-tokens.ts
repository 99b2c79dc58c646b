/**
 * JavaScript and TypeScript in tokens, as far as it takes to find a key in it: strings, templates, comments and patterns are
 * passed over whole, and brackets know their partners. Nothing is understood beyond that, and what cannot be told is given up.
 */
export interface Token {
  kind: 'word' | 'string' | 'template' | 'number' | 'pattern' | 'mark'
  /** Of a string, what is between its quotes. */
  text: string
  /** Where it begins in the source. */
  at: number
  /** Of an opening bracket, the index of the closing one. */
  closes?: number
}

const SPACE = /(?:\s|\/\/.*|\/\*[\s\S]*?\*\/)+/y
const STRING = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y
const WORD = /[\p{ID_Start}$_#@][\p{ID_Continue}$]*/uy
const NUMBER = /\d[\w.]*/y
const PATTERN = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
const MARK = /=>|\?\.|\.\.\.|\S/y
const BEFORE_PATTERN = /^(?:return|typeof|case|in|of|void|delete|await|yield|throw|else|do)$/
const PARTNERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** Undefined where a string does not end, or a bracket has no partner. */
export function tokensOf(source: string): Token[] | undefined {
  const read = readTokens(source, 0)
  return read?.end === source.length ? read.tokens : undefined
}

/** Up to the end, or to a closing brace that nothing has opened. */
function readTokens(source: string, from: number): { tokens: Token[]; end: number } | undefined {
  const tokens: Token[] = []
  const open: number[] = []
  let at = from
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(source)?.[0]
  }
  while (at < source.length) {
    const space = match(SPACE)
    if (space !== undefined) {
      at += space.length
      continue
    }
    if (source[at] === '`') {
      const end = templateEnd(source, at + 1)
      if (end === undefined) return undefined
      tokens.push({ kind: 'template', text: source.slice(at, end), at })
      at = end
      continue
    }
    const pattern = mayBePattern(tokens.at(-1)) ? match(PATTERN) : undefined
    const token = readToken(match, pattern, at)
    if (token === undefined) return undefined
    if (token.text === '}' && token.kind === 'mark' && open.length === 0) return { tokens, end: at }
    if (!pair(tokens, open, token)) return undefined
    tokens.push(token)
    at += token.kind === 'string' ? token.text.length + 2 : token.text.length
  }
  return open.length === 0 ? { tokens, end: at } : undefined
}

function readToken(
  match: (pattern: RegExp) => string | undefined,
  pattern: string | undefined,
  at: number,
): Token | undefined {
  const string = match(STRING)
  if (string !== undefined) return { kind: 'string', text: string.slice(1, -1), at }
  const word = match(WORD)
  if (word !== undefined) return { kind: 'word', text: word, at }
  const number = match(NUMBER)
  if (number !== undefined) return { kind: 'number', text: number, at }
  if (pattern !== undefined) return { kind: 'pattern', text: pattern, at }
  const mark = match(MARK)!
  return mark === "'" || mark === '"' ? undefined : { kind: 'mark', text: mark, at }
}

/** Notes the partner of a closing bracket; false where it closes another than the one that is open. */
function pair(tokens: readonly Token[], open: number[], { kind, text }: Token): boolean {
  if (kind !== 'mark') return true
  if (text in PARTNERS) open.push(tokens.length)
  else if (Object.values(PARTNERS).includes(text)) {
    const opening = tokens[open.pop() ?? -1]
    if (opening === undefined || PARTNERS[opening.text] !== text) return false
    opening.closes = tokens.length
  }
  return true
}

/** After a value a slash divides. */
function mayBePattern(before: Token | undefined): boolean {
  if (before === undefined) return true
  if (before.kind === 'word') return BEFORE_PATTERN.test(before.text)
  return before.kind === 'mark' && !/[)\]}]/.test(before.text)
}

function templateEnd(source: string, from: number): number | undefined {
  let at = from
  while (at < source.length) {
    if (source[at] === '`') return at + 1
    if (source[at] === '\\') at += 2
    else if (source.startsWith('${', at)) {
      const end = readTokens(source, at + 2)?.end
      if (end === undefined || source[end] !== '}') return undefined
      at = end + 1
    } else at += 1
  }
  return undefined
}
