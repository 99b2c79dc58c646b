import { z } from 'zod'
import { routesOf, spec } from '../route.js'

const names = ['run.failed', 'run.succeeded'] as const
export const EVENT_SPECS = {
  streamEvents: spec({
    method: 'get',
    path: '/events',
    role: 'viewer',
    groups: 'own',
    tag: 'Events',
    summary: 'Events',
    query: z.strictObject({
      names: z
        .preprocess((v) => (typeof v === 'string' ? v.split(',') : v), z.array(z.enum(names)))
        .exactOptional(),
    }),
    headers: ['Last-Event-ID'],
    answer: 'stream',
    problems: [],
  }),
}
export const eventRoutes = routesOf(EVENT_SPECS, { streamEvents: () => new Response('') })
