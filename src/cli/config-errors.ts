/** What is wrong with a configuration, with the file and the line that it stands in. */
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { EscapementError } from '../errors.js'
import { type KeyPath, type Place, placeOfKey } from './source-keys.js'

/** A mistake by where it is in what the file exports. */
export interface ConfigMistake {
  path: KeyPath
  message: string
}

/** Where it was read from, and what stood there then. */
export interface ConfigSource {
  /** As it was named. */
  file: string
  text: string
}

/** All of them, each with its line where that can be told. */
export function mistakesInConfig(
  { file, text }: ConfigSource,
  mistakes: readonly ConfigMistake[],
  cause?: unknown,
): EscapementError {
  const located = mistakes.map(({ path: keys, message }) => {
    const field = fieldOf(keys)
    const place = placeOfKey(text, keys)
    return { file, ...place, field, message: field === '' ? message : `${field}: ${message}` }
  })
  located.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
  return new EscapementError('config_invalid', {
    message: located.map((mistake) => `${positionOf(mistake)}: ${mistake.message}`).join('\n'),
    details: { file, mistakes: located },
    cause,
  })
}

/** `schedules['demo:report'].timing.every`, as one would write it. */
function fieldOf(path: KeyPath): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`
      if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(step)) return `['${step}']`
      return index === 0 ? step : `.${step}`
    })
    .join('')
}

/** The steps of a field as the readers of options name it, such as `retry.backoff[1]`. */
export function stepsOf(field: string): (string | number)[] {
  return field.split('.').flatMap((part) => {
    const [name, ...positions] = part.split(/\[(?=\d+\])/)
    return [name!, ...positions.map((position) => Number.parseInt(position, 10))]
  })
}

function positionOf({ file, line, column }: { file: string } & Partial<Place>): string {
  return [file, line, column].filter((part) => part !== undefined).join(':')
}

/** Why a file could not be loaded: where it cannot be read, or where it threw. */
export function loadError(file: string, error: unknown): EscapementError {
  const found = syntaxErrorOf(error) ?? thrownBy(error)
  const where = found ?? { file: path.resolve(file), message: messageOf(error) }
  // As it was named, where it is the file itself; by whatever way it was imported else.
  const isItself = path.resolve(file) === where.file
  const shown = isItself ? file : path.relative('', where.file)
  const position = { file: shown, ...(found && { line: found.line }), ...columnOf(found) }
  return new EscapementError('config_invalid', {
    message: [`${positionOf(position)}: ${where.message}`, ...(found ? excerpt(found) : [])].join('\n'),
    details: { file, mistakes: [{ ...position, field: '', message: where.message }] },
    cause: error,
  })
}

interface Found {
  file: string
  line: number
  column?: number
  message: string
}

const columnOf = (found: Found | undefined) => (found?.column === undefined ? {} : { column: found.column })

/** jiti says where in its message, and counts columns from 0; Node says it in front of the stack. */
function syntaxErrorOf(error: unknown): Found | undefined {
  if (!(error instanceof Error)) return undefined
  const parsed = /^ParseError: ([\s\S]*?)\s*\n\s*(\S.*):(\d+):(\d+)$/.exec(error.message)
  if (parsed) {
    const [, message, file, line, column] = parsed
    return { file: file!, line: Number(line), column: Number(column) + 1, message: message! }
  }
  const native = /^(file:\/\/\S+|\/\S+):(\d+)\n/.exec(error.stack ?? '')
  if (!native || !(error instanceof SyntaxError)) return undefined
  return { file: asPath(native[1]!), line: Number(native[2]), message: error.message }
}

/** The nearest call in a file of theirs. Its column is that of the compiled code, so it is not told. */
function thrownBy(error: unknown): Found | undefined {
  const frames = error instanceof Error ? (error.stack ?? '').split('\n') : []
  for (const frame of frames) {
    const match = /^\s+at (?:.*\()?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*):(\d+):\d+\)?$/.exec(
      frame.replace(/ at async /, ' at '),
    )
    const file = match && asPath(match[1]!)
    if (file && isTheirs(file)) return { file, line: Number(match[2]), message: messageOf(error) }
  }
  return undefined
}

function asPath(file: string): string {
  return file.startsWith('file://') ? fileURLToPath(file) : file
}

/** Where `escapement` in a configuration leads: calls in it are ours. */
const OWN_FOLDER = fileURLToPath(new URL('../../dist/', import.meta.url))

/** Neither ours nor of a package. */
export function isTheirs(file: string): boolean {
  return !file.startsWith(OWN_FOLDER) && !file.split(path.sep).includes('node_modules') && fs.existsSync(file)
}

/** The first paragraph; Node lists below it who asked for a module. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${String(error)}`
  const [first = ''] = error.message.split('\nRequire stack:')
  const isPlain = error.name === 'Error' || error.name === 'EscapementError'
  return isPlain ? first : `${error.name}: ${first}`
}

/** The line itself, with a mark under the column where that is known. */
function excerpt({ file, line, column }: Found): string[] {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split(/\r?\n/)[line - 1] : undefined
  if (text === undefined || text.trim() === '') return []
  const margin = `  ${line} | `
  const mark = column === undefined ? [] : [`${' '.repeat(margin.length - 2)}| ${' '.repeat(column - 1)}^`]
  return [`${margin}${text}`, ...mark]
}
