import { quoted } from '../../parts/quoted.ts'
import type { Filter } from './use-filter.ts'

export type BulkWord = 'pause' | 'resume'

const FLAGS: readonly (readonly [keyof Filter, string])[] = [
  ['q', '--search'],
  ['state', '--state'],
  ['group', '--group'],
  ['job', '--job'],
]

/** The same from a terminal. */
export function bulkCommand(verb: BulkWord, filter: Filter, reason: string): string {
  const flags = FLAGS.flatMap(([field, flag]) => {
    const value = filter[field]
    return value === undefined ? [] : `${flag} ${quoted(value)}`
  })
  const because = verb === 'pause' && reason !== '' ? [`--reason ${quoted(reason)}`] : []
  const which = flags.length === 0 ? ['--all'] : flags
  return ['escapement schedules', verb, ...which, ...because].join(' ')
}

const NAMES: readonly (readonly [keyof Filter, string])[] = [
  ['q', 'with the words'],
  ['state', 'in the state'],
  ['group', 'of the group'],
  ['job', 'of the job'],
]

/** ` with the words “acme”, of the group “g”`; undefined where all schedules are meant. */
export function filterInWords(filter: Filter): string | undefined {
  const parts = NAMES.flatMap(([field, name]) => {
    const value = filter[field]
    return value === undefined ? [] : `${name} “${value}”`
  })
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** What the filter leaves of those that the verb can change. A paused schedule cannot be paused, nor an active one resumed. */
export function canChange(verb: BulkWord, { state }: Filter): boolean {
  if (state === undefined || state === 'broken') return true
  return state === (verb === 'pause' ? 'active' : 'paused')
}
