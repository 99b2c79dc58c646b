import { z } from 'zod'
import { EVENT_NAMES } from '../../events/bus.js'
import type { EventHub } from '../event-hub.js'
import { streamEvents } from '../event-stream.js'
import { ProblemError } from '../problems.js'
import { type Route, routesOf, spec } from '../route.js'
import { label, wordsOf } from '../schemas/basics.js'

export const EVENT_SPECS = {
  streamEvents: spec({
    method: 'get',
    path: '/events',
    role: 'viewer',
    groups: 'own',
    tag: 'Events',
    summary: 'Hear what happens as it happens',
    description:
      'Server-sent events of all processes, as far as they are told: they are hints, and the database is the truth. ' +
      '`event` is the name, `data` JSON. A client that comes back with `Last-Event-ID` goes on where it was. `resync` says ' +
      'that events are missing: read again what you show.',
    query: z.strictObject({
      names: wordsOf(EVENT_NAMES).exactOptional().describe('Only these.'),
      group: label.exactOptional().describe('Only what concerns schedules of this group.'),
    }),
    headers: ['Last-Event-ID'],
    answer: 'stream',
    problems: ['too_many_readers'],
  }),
}

export function createEventRoutes(hub: EventHub): Record<string, Route> {
  return routesOf(EVENT_SPECS, {
    streamEvents({ query, identity, request, isStillKnown }) {
      if (hub.isFull) {
        throw new ProblemError('too_many_readers', {
          detail: 'There are as many readers of events as there may be. Try again later.',
          headers: { 'retry-after': '5' },
        })
      }
      const own = identity.group ?? query.group
      const isElsewhere = query.group !== undefined && query.group !== own
      return streamEvents(hub, {
        lastEventId: request.headers.get('last-event-id') ?? undefined,
        names: isElsewhere ? [] : query.names,
        group: own,
        isStillKnown,
        signal: request.signal,
      })
    },
  })
}
