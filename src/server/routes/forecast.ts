import { z } from 'zod'
import { hostNow } from '../../clock.js'
import { routesOf, spec } from '../route.js'
import {
  durationInput,
  instant,
  instantInput,
  label,
  limitOf,
  nextPageToken,
  pageToken,
} from '../schemas/basics.js'

const common = { method: 'get', role: 'viewer', groups: 'own', tag: 'System' } as const
const MAX_PAGE = 500
const HOUR_MS = 3_600_000

export const FORECAST_SPECS = {
  getForecast: spec({
    ...common,
    path: '/forecast',
    summary: 'How many runs are to come, by time, queue and group',
    description:
      'Of very many schedules a part is counted, and stands for all: then `isEstimate` is true. Herds are never missed; what few schedules ask for may be.',
    query: z.strictObject({
      from: instantInput.exactOptional().describe('Inclusive; now by default. What is past is not counted.'),
      to: instantInput.exactOptional().describe('Exclusive; an hour after `from` by default.'),
      bucket: durationInput.default('1 minute'),
      queue: label.exactOptional(),
      group: label.exactOptional(),
      by: z
        .enum(['queue', 'group', 'both', 'none'])
        .default('both')
        .describe('What is counted apart. The fewer, the smaller the answer.'),
    }),
    answer: z.object({
      buckets: z.array(
        z.object({
          from: instant,
          queue: z.string().nullable().describe('Null where queues are counted together.'),
          group: z.string().nullable().describe('Null for none, and where groups are counted together.'),
          runs: z.int(),
        }),
      ),
      isEstimate: z.boolean().describe('Whether it was scaled up from a part of the schedules.'),
    }),
    problems: ['option_invalid', 'range_too_large'],
  }),
  listPlanned: spec({
    ...common,
    path: '/forecast/schedules',
    summary: 'Which schedules have plan times in a range of up to a day',
    description:
      'Those whose next plan time is in the range come first, then those that come before it and again; of a group they come by name. A schedule ' +
      'whose cursor moves while somebody goes through the pages may be listed twice, or left out.',
    query: z.strictObject({
      from: instantInput.describe('Inclusive. What is past is left out.'),
      to: instantInput.describe('Exclusive; at most a day after `from`.'),
      queue: label.exactOptional(),
      group: label.exactOptional(),
      limit: limitOf(MAX_PAGE),
      pageToken,
    }),
    answer: z.object({
      schedules: z.array(
        z.object({
          name: z.string(),
          job: z.string(),
          queue: z.string(),
          group: z.string().nullable(),
          firstPlanTime: instant,
          planTimes: z.int().describe('Of one that begins after a completion only the next is known.'),
          runs: z.int().describe('One for each plan time and scope.'),
        }),
      ),
      nextPageToken,
    }),
    problems: ['option_invalid'],
  }),
}

export const forecastRoutes = routesOf(FORECAST_SPECS, {
  getForecast({ escapement, query: { from = new Date(hostNow()).toISOString(), to, ...rest }, identity }) {
    const end = to ?? new Date(new Date(from).getTime() + HOUR_MS)
    const { group: own } = identity
    if (own !== null && rest.group !== undefined && rest.group !== own)
      return { buckets: [], isEstimate: false }
    return escapement.forecast({ ...rest, from, to: end, ...(own !== null && { group: own }) })
  },
  listPlanned: ({ schedules, query }) => schedules.planned(query),
})
