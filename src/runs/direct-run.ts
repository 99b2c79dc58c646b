import { didYouMean } from '../time/did-you-mean.js'
import { type DurationInput, readElapsed } from '../time/duration.js'
import { type Instant, type InstantInput, readInstant } from '../time/instant.js'
import { quote, type Report, readOrThrow } from '../time/report.js'
import { DEFAULT_QUEUE, readJobName, readJsonText, readLabel, readPriority, readText } from './assignment.js'

/** How a run that is asked for directly is treated. */
export interface DirectRunOptions {
  /**
   * The earliest time at which it may run: an instant, or a span from now such as `{ in: '5 minutes' }`.
   * @default now
   */
  at?: InstantInput | { in: DurationInput }
  /**
   * The queue that it waits in.
   * @default 'default'
   */
  queue?: string
  /**
   * Higher runs first within its queue.
   * @default 0
   */
  priority?: number
  /** Asking again for the same job under the same key gives the run that there is, for as long as it is kept. */
  key?: string
}

const DIRECT_RUN_DEFAULTS = { queue: DEFAULT_QUEUE, priority: 0 } satisfies DirectRunOptions

/** One that is asked for: how it is treated, with its input. */
export interface EnqueueItem<Input = unknown> extends DirectRunOptions {
  /** What the handler gets. */
  input: Input
}

/** What was asked for, checked and filled with its defaults. */
export interface DirectRun {
  job: string
  /** As JSON text, taken at once: what the caller does to the object later changes nothing. */
  input: string
  queue: string
  priority: number
  key: string | null
  /** When it becomes eligible; null for a span from the database's now. */
  at: Instant | null
  delayMs: number
  /** The W3C trace context of who asks; null where nothing is traced. */
  traceContext: string | null
}

/** What the keys of our own runs begin with. */
export const OWN_KEYS = 'escapement:'

const FIELDS: readonly string[] = ['input', 'at', 'queue', 'priority', 'key'] satisfies (keyof EnqueueItem)[]
/** An error that shows so many mistakes says enough. */
const MOST_MISTAKES = 20

/** The job's handle or name, what is asked of it, and where the mistakes of each item are. */
export interface DirectRequest {
  job: unknown
  items: readonly EnqueueItem[]
  /** What goes before the names of an item's fields. */
  pathOf(index: number): string
  /** What else there is to check of the options. */
  alsoCheck(report: Report): void
}

/** Checks any number of them: all mistakes in the options at once, and if there are none, those in the inputs. */
export function readDirectRuns({ job, items, pathOf, alsoCheck }: DirectRequest): DirectRun[] {
  const runs = readOrThrow('option_invalid', (report) => {
    alsoCheck(report)
    const name = readJobName(job, 'job', report)
    return readEach(items, pathOf, report, (item, note) => readTerms(name, item, note))
  })
  const inputs = readOrThrow('input_invalid', (report) =>
    readEach(items, pathOf, report, ({ input }, note) => readJsonText(input ?? null, 'input', note)),
  )
  for (const [index, run] of runs.entries()) run.input = inputs[index]!
  return runs
}

function readEach<T>(
  items: readonly EnqueueItem[],
  pathOf: (index: number) => string,
  report: Report,
  read: (item: EnqueueItem, report: Report) => T,
): T[] {
  let mistakes = 0
  let current = 0
  const note: Report = (field, message) => {
    mistakes += 1
    return report(`${pathOf(current)}${field}`, message)
  }
  const results: T[] = []
  for (const item of items) {
    if (mistakes >= MOST_MISTAKES) break
    results.push(read(item, note))
    current += 1
  }
  return results
}

function readTerms(job: string, item: EnqueueItem, report: Report): DirectRun {
  const { at, queue = DIRECT_RUN_DEFAULTS.queue, priority = DIRECT_RUN_DEFAULTS.priority, key } = item
  for (const field of Object.keys(item)) {
    if (!FIELDS.includes(field)) report(field, `unknown field${didYouMean(field, FIELDS)}`)
  }
  const run: DirectRun = {
    job,
    input: 'null',
    queue: readLabel(queue, 'queue', report),
    priority: readPriority(priority, 'priority', report),
    key: key === undefined ? null : readKey(key, report),
    at: null,
    delayMs: 0,
    traceContext: null,
  }
  if (at !== undefined) readAt(run, at, report)
  return run
}

function readKey(given: unknown, report: Report): string {
  const key = readText(given, 'key', report)
  if (typeof key === 'string' && key.startsWith(OWN_KEYS)) {
    report('key', `${quote(key)} – keys that begin with ${OWN_KEYS} belong to Escapement`)
  }
  return key
}

function readAt(run: DirectRun, at: unknown, report: Report): void {
  if (typeof at !== 'object' || at === null || at instanceof Date) {
    run.at = readInstant(at, 'at', report) ?? null
  } else if ('in' in at && Object.keys(at).length === 1) {
    run.delayMs = readElapsed(at.in, 'at.in', report) ?? 0
  } else {
    report('at', `${quote(at)} – expected an instant, or a span from now such as { in: '5 minutes' }`)
  }
}
