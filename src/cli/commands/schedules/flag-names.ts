import { EscapementError } from '../../../errors.js'
import { type DefinitionFlags, OPTIONAL_FIELDS } from './definition-flags.js'

/** Fields whose flag has another name than they have. */
const FLAGS: Readonly<Record<string, string>> = {
  timing: '--cron, --every, --at, --after or --rrule',
  'timing.expression': '--cron',
  'timing.every': '--every',
  'timing.at': '--at',
  'timing.interval': '--after',
  'timing.rule': '--rrule',
  'timing.zone': '--zone',
  'timing.anchor': '--anchor',
  'timing.gap': '--gap',
  'timing.fold': '--fold',
  scopes: '--scope',
  'breaker.failures': '--breaker',
  'breaker.cooldown': '--breaker-cooldown',
}
const SAME = ['job', 'paused', ...OPTIONAL_FIELDS]

/**
 * What the server says of a field, said of the flag that gave it. Where a file gives fields too, those of flags that are not on the
 * command line keep their names.
 */
export function namingFlags<T>(flags: DefinitionFlags, work: () => Promise<T>): Promise<T> {
  return rewording((line) => inFlags(line, flags), work)
}

/** The same where a command has few fields. */
export function naming<T>(names: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
  return rewording((line) => {
    const [field, ...rest] = line.split(': ')
    return [names[field!] ?? field, ...rest].join(': ')
  }, work)
}

async function rewording<T>(reword: (line: string) => string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    const message = error.message.split('\n').map(reword).join('\n')
    throw new EscapementError(error.code, { message, details: error.details, cause: error.cause })
  }
}

/** `timing.expression: "61 * * * *" – …` → `--cron: "61 * * * *" – …`. */
function inFlags(line: string, flags: DefinitionFlags): string {
  const [, path, inner = '', rest] = /^([a-z]\w*(?:\.[a-z]\w*)?)((?:[.[][^:]*)?)(: .*)$/is.exec(line) ?? []
  if (path === undefined) return line
  const field = Object.hasOwn(FLAGS, path) ? path : path.split('.')[0]!
  const flag = FLAGS[field] ?? (SAME.includes(field) ? `--${kebab(field)}` : undefined)
  if (flag === undefined) return line
  const given = flags as Record<string, unknown>
  const isGiven = given[camel(flag.slice(2))] !== undefined
  if (flags.file !== undefined && !isGiven) return line
  const within = `${path.slice(field.length)}${inner}`.replace(/^\./, '')
  const isOfAnotherKind = path.startsWith('timing.') && rest === ': unknown field'
  return `${flag}${within === '' ? '' : ` ${within}`}${isOfAnotherKind ? ': does not go with this kind of timing' : rest}`
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function camel(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
