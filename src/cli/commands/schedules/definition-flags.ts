import { type Command, InvalidArgumentError, Option } from 'commander'
import { EscapementError } from '../../../errors.js'
import { didYouMean } from '../../../time/did-you-mean.js'
import { JSON_FORMS, readJsonFile, readJsonFlag } from '../../json-flag.js'
import { parseCount } from '../../paged.js'
import { readTime } from '../../time-flag.js'
import { isPartOfTiming, type TimingFlags, timingFieldsOf, withTimingFlags } from '../../timing-flags.js'

/** All fields of a definition as flags, each of them optional. */
export interface DefinitionFlags extends TimingFlags {
  file?: string
  job?: string
  input?: string
  queue?: string
  priority?: number
  group?: string
  scope?: string[]
  description?: string
  metadata?: string
  startAt?: string
  endAt?: string
  limit?: number
  catchUp?: string
  catchUpWindow?: string
  catchUpLimit?: number
  grace?: string
  overlap?: string
  delay?: string
  jitter?: string
  breaker?: number
  breakerCooldown?: string
  deleteWhenDone?: boolean
  paused?: boolean
}

/** A definition, or a part of one, as the API takes it; what is wrong with it the server says, all at once. */
export type Fields = Record<string, unknown>

export function withDefinitionFlags(command: Command): Command {
  command
    .optionsGroup('What it runs:')
    .option('--job <name>', 'the job')
    .option('--input <json>', `what the job gets: ${JSON_FORMS}`)
    .option('--queue <name>', 'the queue of its runs (default: "default")')
    .option('--priority <number>', 'higher runs first within its queue (default: 0)', parseWhole)
    .option('--group <name>', 'label by which schedules are found and paused together')
    .option('--scope <name>', 'a parallel lane; repeat it for several', gathered)
    .option('--description <text>', 'for people')
    .option('--metadata <json>', `an object of yours: ${JSON_FORMS}`)
    .option(
      '--file <path>',
      'the fields as JSON, as "get --json" prints them; flags override it; - for standard input',
    )
  command.optionsGroup('When it runs:')
  withTimingFlags(command)
    .option('--start-at <time>', 'the earliest plan time, in its zone if it has no offset (default: now)')
    .option('--end-at <time>', 'the end of the plan times, exclusive')
    .option('--limit <number>', 'how many plan times there are, whatever becomes of them', parseCount)
  return command
    .optionsGroup('How it treats plan times:')
    .addOption(
      new Option('--catch-up <policy>', 'plan times that passed undecided (default: "latest")').choices([
        'latest',
        'none',
        'all',
      ]),
    )
    .option('--catch-up-window <duration>', 'older ones are not caught up')
    .option('--catch-up-limit <number>', 'how many "all" runs in one tick (default: 100)', parseCount)
    .option('--grace <duration>', 'up to here a plan time is on time (default: "1 minute")')
    .addOption(
      new Option('--overlap <policy>', 'while an earlier run is open (default: "allow")').choices([
        'allow',
        'skip',
        'queue',
        'replace',
      ]),
    )
    .option('--delay <duration>', 'run this long after the plan time')
    .option('--jitter <duration>', 'spread runs over this span')
    .option('--breaker <failures>', 'take it out after so many failures in a row', parseCount)
    .option('--breaker-cooldown <duration>', 'try it again after this long')
    .option('--delete-when-done', 'delete it when no plan time is left')
    .optionsGroup('Options:')
}

/** Flags that say what a field holds, word for word. */
const PLAIN = [
  'job',
  'queue',
  'priority',
  'group',
  'description',
  'limit',
  'catchUp',
  'catchUpWindow',
  'catchUpLimit',
  'grace',
  'overlap',
  'delay',
  'jitter',
  'deleteWhenDone',
  'paused',
] as const

/** What a schedule shows beyond its definition. */
const STANDING = ['id', 'name', 'version', 'state', 'stateNote', 'nextAt', 'createdAt', 'updatedAt']

/** What a schedule that was printed holds, so that it can be put again. */
export function definitionIn(printed: Fields): Fields {
  const { breaker, ...fields } = withoutNulls(printed)
  for (const name of STANDING) delete fields[name]
  return breaker === undefined ? fields : { ...fields, breaker: withoutNulls(breaker) }
}

function withoutNulls(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) return value as Fields
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null))
}

/** The fields that the flags and their file give. `current` is asked for what they change only a part of. */
export async function fieldsOf(flags: DefinitionFlags, current?: () => Promise<Fields>): Promise<Fields> {
  const { file, input, metadata, scope, startAt, endAt } = flags
  if ([file, input, metadata].filter((given) => given === '-').length > 1) throw oneStandardInput()
  const fields = file === undefined ? {} : await fieldsIn(file)
  for (const name of PLAIN) if (flags[name] !== undefined) fields[name] = flags[name]
  if (input !== undefined) fields.input = await readJsonFlag(input, '--input')
  if (metadata !== undefined) fields.metadata = await readJsonFlag(metadata, '--metadata')
  if (scope !== undefined) fields.scopes = scope
  if (startAt !== undefined) fields.startAt = absolute(startAt, '--start-at')
  if (endAt !== undefined) fields.endAt = absolute(endAt, '--end-at')
  const known = lazy(async (): Promise<Fields> => ({ ...(await current?.()), ...fields }))
  const timing = timingFieldsOf(flags, isPartOfTiming(flags) ? timingIn(await known()) : undefined)
  if (timing !== undefined) fields.timing = timing
  if (flags.breaker !== undefined || flags.breakerCooldown !== undefined) {
    fields.breaker = breakerOf(flags, flags.breaker === undefined ? (await known()).breaker : undefined)
  }
  return fields
}

async function fieldsIn(file: string): Promise<Fields> {
  const found = await readJsonFile(file, '--file')
  if (typeof found === 'object' && found !== null && !Array.isArray(found)) {
    return Object.fromEntries(Object.entries(found).filter(([name]) => !STANDING.includes(name)))
  }
  throw new EscapementError('option_invalid', {
    message: '--file: must hold one object with the fields of a schedule',
  })
}

function timingIn({ timing }: Fields): object | undefined {
  return typeof timing === 'object' && timing !== null ? timing : undefined
}

function breakerOf({ breaker, breakerCooldown }: DefinitionFlags, current: unknown): Fields {
  const { failures } = (current ?? {}) as { failures?: number }
  const given = breaker ?? failures
  return {
    ...(given !== undefined && { failures: given }),
    ...(breakerCooldown !== undefined && { cooldown: breakerCooldown }),
  }
}

/** The server reads a time in the zone of the timing; it does not know `in 2 days`. */
function absolute(text: string, flag: string): string {
  if (!/^(now|in\s.*|.*\sago)$/i.test(text.trim())) return text
  return new Date(readTime(text, flag, 'UTC')).toISOString()
}

const CLEARABLE = {
  input: 'input',
  queue: 'queue',
  priority: 'priority',
  group: 'group',
  scope: 'scopes',
  description: 'description',
  metadata: 'metadata',
  'start-at': 'startAt',
  'end-at': 'endAt',
  limit: 'limit',
  'catch-up': 'catchUp',
  'catch-up-window': 'catchUpWindow',
  'catch-up-limit': 'catchUpLimit',
  grace: 'grace',
  overlap: 'overlap',
  delay: 'delay',
  jitter: 'jitter',
  breaker: 'breaker',
  'delete-when-done': 'deleteWhenDone',
} as const

/** The fields that a definition may leave out. */
export const OPTIONAL_FIELDS: readonly string[] = Object.values(CLEARABLE)

export function withClearFlag(command: Command): Command {
  return command.option(
    '--clear <field>',
    'take a field away, named as its flag is: "--clear group"; repeat it for several',
    (text: string, before: string[] | undefined) => [...(before ?? []), fieldToClear(text)],
  )
}

function fieldToClear(text: string): string {
  const name = text.replace(/^--/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const field = CLEARABLE[(name === 'scopes' ? 'scope' : name) as keyof typeof CLEARABLE]
  if (field !== undefined) return field
  const names = Object.keys(CLEARABLE)
  throw new InvalidArgumentError(`It must be one of ${names.join(', ')}${didYouMean(name, names)}.`)
}

function gathered(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text]
}

function parseWhole(text: string): number {
  if (/^[+-]?\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

function lazy<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined
  return () => {
    value ??= read()
    return value
  }
}

function oneStandardInput(): EscapementError {
  return new EscapementError('option_invalid', {
    message: 'Only one of --file, --input and --metadata can be read from standard input.',
  })
}
