import type { Body, Query } from '../../../../src/http-client/index.js'
import { quoted } from '../../parts/quoted.ts'

export const STATES = [
  'pending',
  'running',
  'retrying',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
] as const
export const TRIGGERS = ['scheduled', 'manual', 'backfill', 'direct'] as const

export type Field = 'state' | 'job' | 'queue' | 'schedule' | 'trigger' | 'from' | 'to'
/** As it is in the address; several states with commas. */
export type Filter = { [Name in Field]?: string }

export const statesOf = ({ state }: Filter): string[] => state?.split(',') ?? []

/** What the server is asked, of what is known to be right. */
export function queryOf({ state, ...others }: Filter): NonNullable<Query<'listRuns'>> {
  return { ...others, ...(state !== undefined && { state: statesOf({ state }) }) } as NonNullable<
    Query<'listRuns'>
  >
}

const OPEN = ['pending', 'running', 'retrying']

/**
 * Whether the list, and with it `from` and `to`, goes by when runs ended: where only such are asked for that have, of no schedule
 * in particular, and by somebody who sees all groups. Else it goes by plan time.
 */
export function isByEnd(filter: Filter, seesAll: boolean): boolean {
  const states = statesOf(filter)
  return (
    seesAll && filter.schedule === undefined && states.length > 0 && !states.some((one) => OPEN.includes(one))
  )
}

type RetryFilter = NonNullable<Body<'retryRuns'>>

/** The failed ones of what the list shows, as they are retried: its times are about the same. */
export function retryFilterOf(filter: Filter, seesAll: boolean): RetryFilter {
  const { job, queue, schedule, trigger, from, to } = filter
  const [after, before] = isByEnd(filter, seesAll)
    ? (['finishedAfter', 'finishedBefore'] as const)
    : (['plannedAfter', 'plannedBefore'] as const)
  const given = { job, queue, schedule, trigger, [after]: from, [before]: to }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** The same from a terminal. */
export function retryCommand(filter: RetryFilter): string {
  const flags = Object.entries(filter).map(
    ([field, value]) =>
      `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} ${quoted(String(value))}`,
  )
  return ['escapement runs retry --failed', ...flags].join(' ')
}

/** `12 runs are tried again; 3 must wait, as another run of their schedule is open.` */
export function retriedInWords({ retried, blocked }: { retried: number; blocked: number }): string {
  const runs = retried === 0 ? 'No run is' : retried === 1 ? '1 run is' : `${retried} runs are`
  const rest =
    blocked === 0
      ? ''
      : `; ${blocked} must wait, as another run of ${blocked === 1 ? 'its' : 'their'} schedule is open`
  return `${runs} tried again${rest}.`
}
