/**
 * Finds where in its file a value of the configuration is given, by walking the keys of what is written there. It follows what
 * is plain: objects, lists, `defineConfig(…)` and constants of the same file. What is computed, spread or imported it
 * does not follow, and then gives the last key on the way that it is sure of.
 */
import { type Token, tokensOf } from './source-tokens.js'

/** From the default export on: names of fields, and positions in lists. */
export type KeyPath = readonly (string | number)[]

export interface Place {
  /** From 1. */
  line: number
  /** From 1. */
  column: number
}

/** Undefined where not even the first key can be told. */
export function placeOfKey(source: string, path: KeyPath): Place | undefined {
  const tokens = tokensOf(source)
  let value = tokens && defaultExport(tokens)
  let found: Token | undefined
  for (const step of path) {
    const opening = value === undefined ? undefined : literalAt(tokens!, value)
    if (opening === undefined) break
    const member =
      typeof step === 'number' ? element(tokens!, opening, step) : property(tokens!, opening, step)
    if (member === undefined) break
    found = tokens![member.key]
    value = member.value
  }
  return found && placeAt(source, found.at)
}

function placeAt(source: string, at: number): Place {
  const before = source.slice(0, at).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}

interface Member {
  key: number
  /** Where its value begins; undefined for a method. */
  value: number | undefined
}

/** The index behind `export default` or `module.exports =`. */
function defaultExport(tokens: readonly Token[]): number | undefined {
  return behind(tokens, ['export', 'default']) ?? behind(tokens, ['module', '.', 'exports', '='])
}

function behind(tokens: readonly Token[], words: readonly string[]): number | undefined {
  for (const index of topLevel(tokens)) {
    if (words.every((word, ahead) => isCode(tokens[index + ahead], word))) return index + words.length
  }
  return undefined
}

function* topLevel(tokens: readonly Token[]): Generator<number> {
  for (let index = 0; index < tokens.length; index += 1) {
    yield index
    index = tokens[index]!.closes ?? index
  }
}

function isCode(token: Token | undefined, text: string): boolean {
  return token !== undefined && token.kind !== 'string' && token.text === text
}

/** The index of the bracket that opens the object or the list that a value is; undefined where it is anything else. */
function literalAt(
  tokens: readonly Token[],
  value: number,
  names: readonly string[] = [],
): number | undefined {
  const token = tokens[value]
  if (token?.kind === 'mark' && (token.text === '{' || token.text === '[')) {
    // Of what a method makes of it nothing is known.
    return isGoneOn(tokens[token.closes! + 1]) ? undefined : value
  }
  if (isCode(token, '(')) return literalAt(tokens, value + 1, names)
  if (token?.kind !== 'word') return undefined
  const next = tokens[value + 1]
  if (isCode(next, '('))
    return token.text === 'defineConfig' ? literalAt(tokens, value + 2, names) : undefined
  if (isGoneOn(next) || names.includes(token.text)) return undefined
  const constant = constantAt(tokens, token.text)
  return constant === undefined ? undefined : literalAt(tokens, constant, [...names, token.text])
}

function isGoneOn(token: Token | undefined): boolean {
  return token?.kind === 'mark' && ['.', '?.', '(', '[', '=>', '?', '+', '|', '&', '<'].includes(token.text)
}

/** Where the value of a constant of this file begins. */
function constantAt(tokens: readonly Token[], name: string): number | undefined {
  for (const index of topLevel(tokens)) {
    if (!isCode(tokens[index], 'const') || !isCode(tokens[index + 1], name)) continue
    for (let at = index + 2; at < tokens.length; at = (tokens[at]!.closes ?? at) + 1) {
      if (isCode(tokens[at], '=')) return at + 1
      if (isCode(tokens[at], ';')) return undefined
    }
  }
  return undefined
}

function property(tokens: readonly Token[], opening: number, name: string): Member | undefined {
  if (tokens[opening]!.text !== '{') return undefined
  let found: Member | undefined
  for (const start of members(tokens, opening)) {
    const key = keyAt(tokens, start)
    // What looks like no key is a comma that was none between two members: nothing that follows is sure.
    if (key === undefined) return found
    // Of two the last counts.
    if (key !== 'unknown' && tokens[key.key]!.text === name) found = key
  }
  return found
}

function keyAt(tokens: readonly Token[], start: number): Member | 'unknown' | undefined {
  const token = tokens[start]!
  const next = tokens[start + 1]
  if (isCode(token, '...') || isCode(token, '[')) return 'unknown'
  if (isCode(token, '*')) return keyAt(tokens, start + 1)
  if (token.kind !== 'word' && token.kind !== 'string' && token.kind !== 'number') return undefined
  if (isCode(next, ':')) return { key: start, value: start + 2 }
  if (isCode(next, ',') || isCode(next, '}')) {
    return token.kind === 'word' ? { key: start, value: start } : undefined
  }
  if (isCode(next, '(')) return { key: start, value: undefined }
  const isModifier = token.kind === 'word' && /^(?:async|get|set)$/.test(token.text)
  return isModifier ? keyAt(tokens, start + 1) : undefined
}

function element(tokens: readonly Token[], opening: number, position: number): Member | undefined {
  if (tokens[opening]!.text !== '[') return undefined
  let index = 0
  for (const start of members(tokens, opening)) {
    if (isCode(tokens[start], '...')) return undefined
    if (index === position) return { key: start, value: start }
    index += 1
  }
  return undefined
}

/** Where each begins that a comma ends. */
function* members(tokens: readonly Token[], opening: number): Generator<number> {
  const end = tokens[opening]!.closes!
  let at = opening + 1
  while (at < end) {
    yield at
    while (at < end && !isCode(tokens[at], ',')) at = (tokens[at]!.closes ?? at) + 1
    at += 1
  }
}
