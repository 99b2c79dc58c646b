/** The same for a terminal, and for a program. */
import { quoted, shellWord } from '../../parts/quoted.ts'
import type { Fields } from './reading.ts'

const TIMING_FLAGS: Readonly<Record<string, readonly [flag: string, field: string]>> = {
  cron: ['--cron', 'expression'],
  every: ['--every', 'every'],
  once: ['--at', 'at'],
  after: ['--after', 'interval'],
  rrule: ['--rrule', 'rule'],
}

/** `escapement schedules put …`, or `patch` for fields of which null takes one away. */
export function commandLineOf(name: string, fields: Fields, version?: number): string {
  const verb = version === undefined ? 'put' : 'patch'
  const only = version === undefined ? '--create' : `--if-version ${version}`
  const flags = Object.entries(fields).flatMap(([field, value]) => flagsOf(field, value))
  return ['escapement schedules', verb, shellWord(name), ...flags, only].join(' ')
}

function flagsOf(field: string, value: unknown): string[] {
  const flag = `--${kebab(field === 'scopes' ? 'scope' : field)}`
  if (value === null && field !== 'input') return [`--clear ${flag.slice(2)}`]
  if (value === true) return [flag]
  if (field === 'timing') return timingFlags(value as Fields)
  if (field === 'scopes') return (value as string[]).map((scope) => `${flag} ${shellWord(scope)}`)
  if (field === 'input' || field === 'metadata') return [`${flag} ${quoted(JSON.stringify(value))}`]
  if (field === 'breaker') {
    const { failures, cooldown } = value as Fields
    return [
      `${flag} ${failures}`,
      ...(cooldown === undefined ? [] : [`--breaker-cooldown ${shellWord(String(cooldown))}`]),
    ]
  }
  return [`${flag} ${shellWord(String(value))}`]
}

function timingFlags({ kind, ...fields }: Fields): string[] {
  const [flag, main] = TIMING_FLAGS[String(kind)] ?? []
  // What this page does not know, the command line takes from a file.
  if (flag === undefined) return ['--file timing.json']
  return Object.entries(fields).map(([field, value]) =>
    field === main ? `${flag} ${shellWord(String(value))}` : `--${field} ${shellWord(String(value))}`,
  )
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `await escapement.schedules.put(…)`, with what it needs. */
export function typescriptOf(name: string, fields: Fields, version?: number): string {
  const { timing } = fields as { timing?: Fields }
  const known = timing && TIMING_FLAGS[String(timing.kind)]
  const made = known ? `import { ${timing.kind} } from 'escapement'\n\n` : ''
  const verb = version === undefined ? 'put' : 'patch'
  const options = version === undefined ? '' : `, { expectedVersion: ${version} }`
  const lines = Object.entries(fields).map(
    ([field, value]) =>
      `  ${field}: ${field === 'timing' && known ? call(value as Fields) : literal(value, '  ')},\n`,
  )
  return `${made}await escapement.schedules.${verb}(${literal(name)}, {\n${lines.join('')}}${options})`
}

/** `cron('0 9 * * *', { zone: 'Europe/Paris' })`. */
function call({ kind, ...fields }: Fields): string {
  const main = TIMING_FLAGS[String(kind)]![1]
  const { [main]: first, ...options } = fields
  const rest = Object.keys(options).length === 0 ? '' : `, ${literal(options)}`
  return `${kind}(${literal(first)}${rest})`
}

/** A value as it is written in a program; short ones in one line. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(([name, item]) => `${nameOf(name)}: ${literal(item, inner)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }']
  if (items.length === 0) return `${open}${close}`.replaceAll(' ', '')
  const short = `${open}${items.join(', ')}${close}`
  if (short.length <= 80 && !short.includes('\n')) return short
  return `${open.trim()}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close.trim()}`
}

function nameOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
}
