import fs from 'node:fs'
import type { Content } from './cast.js'

/** What a user was told: that it was done, that it was refused and changed nothing, or nothing that can be relied on. */
export type Answer = 'ok' | 'refused' | 'unknown'

/** Milliseconds by the machine's clock, which is the one that PostgreSQL reads too: before the call, and after its answer. */
export interface Window {
  t0: number
  t1: number
}

/** One call of a user, with its answer. */
export interface VerbEntry extends Window {
  type: 'verb'
  /** The user who asked: each asks for one thing at a time. */
  user: string
  number: number
  verb: string
  /** Of a schedule, a key or a row. */
  name: string
  content?: Content
  planTime?: number
  from?: number
  to?: number
  /** Of a pause that ends by itself. */
  until?: number
  key?: string
  /** Of runs that are asked for together, and told apart by nothing else. */
  inputs?: string[]
  /** One of several that one call was about, and not the first. */
  isEcho?: true
  answer: Answer
  code?: string
  message?: string
  id?: string
  runIds?: string[]
}

/** What a user saw who looked again after an answer that was lost. */
export interface ObservedEntry extends Window {
  type: 'observed'
  user: string
  number: number
  name: string
  exists: boolean
  mark?: number
  isPaused?: boolean
  until?: number | null
  id?: string
}

export interface FaultEntry extends Window {
  type: 'fault'
  number: number
  kind: string
  target: string
  detail?: string
  /** What the process had just sent, where that was waited for. */
  point?: string
}

export type Entry = VerbEntry | ObservedEntry | FaultEntry

/** A file of lines of JSON. */
export interface Journal<T> {
  readonly file: string
  readonly entries: readonly T[]
  write(entry: T): void
  close(): void
}

export function openJournal<T>(file: string): Journal<T> {
  const handle = fs.openSync(file, 'a')
  const entries: T[] = []
  return {
    file,
    entries,
    write(entry) {
      entries.push(entry)
      fs.writeSync(handle, `${JSON.stringify(entry)}\n`)
    },
    close: () => fs.closeSync(handle),
  }
}

/** Lines that a process left; of one that was killed in the middle of a line, all but that. */
export function readLines<T>(file: string): T[] {
  if (!fs.existsSync(file)) return []
  return fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line))
}
