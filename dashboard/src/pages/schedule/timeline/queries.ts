import { queryOptions } from '@tanstack/react-query'
import { client, type Schedule } from '../../../api/client.ts'
import type { Timeline } from './kinds.ts'
import type { Window } from './use-window.ts'

/** Plan times to each side of now; of a window to one side of an instant, twice as many. */
const AROUND = 30
const MOST = 500

/** Read anew as often as what else is of a schedule. */
const NOW_AND_THEN_MS = 15_000

export const timelineKey = (name: string) => ['schedules', 'timeline', name] as const

export const timelineQuery = ({ name, scopes }: Schedule, window: Window) =>
  queryOptions({
    queryKey: [...timelineKey(name), window],
    queryFn({ signal }) {
      const count = (planTimes: number) => Math.min(MOST, planTimes * (scopes?.length ?? 1))
      const { before, from } = window
      if (before !== undefined) {
        return client.schedules.timeline(
          name,
          { at: before, before: count(2 * AROUND), after: 0 },
          { signal },
        )
      }
      if (from !== undefined) {
        return client.schedules.timeline(name, { at: from, before: 0, after: count(2 * AROUND) }, { signal })
      }
      return client.schedules.timeline(name, { before: count(AROUND), after: count(AROUND) }, { signal })
    },
    placeholderData: (last: Timeline | undefined, lastQuery) =>
      lastQuery?.queryKey[2] === name ? last : undefined,
    refetchInterval: NOW_AND_THEN_MS,
  })

/** The same after a wish about one plan time, before the server has answered. */
export function withWish(timeline: Timeline, planTime: string, verb: 'skip' | 'unskip'): Timeline {
  const reason = verb === 'skip' ? ('operator' as const) : null
  return {
    ...timeline,
    occurrences: timeline.occurrences.map((occurrence) =>
      occurrence.planTime === planTime && occurrence.disposition === 'upcoming'
        ? { ...occurrence, reason }
        : occurrence,
    ),
  }
}
