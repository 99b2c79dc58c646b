import { z } from 'zod'
import { findRuns } from '../bounded-page.js'
import { routesOf, spec } from '../route.js'
import {
  id,
  instantInput,
  label,
  limitOf,
  nextPageToken,
  pageToken,
  text,
  wordsOf,
} from '../schemas/basics.js'
import {
  Enqueued,
  EnqueueManyRequest,
  EnqueueRequest,
  RetryFilter,
  RetryReport,
  RUN_TRIGGERS,
  Run,
  RunDetails,
} from '../schemas/run.js'
import { RUN_STATES } from '../schemas/schedule.js'
import { answerEnqueued, keyOf } from './verbs.js'

const tag = 'Runs'
const one = z.object({ id })

export const RUN_SPECS = {
  listRuns: spec({
    method: 'get',
    path: '/runs',
    role: 'viewer',
    groups: 'own',
    tag,
    summary: 'Find runs, newest first',
    query: z.strictObject({
      state: wordsOf(RUN_STATES).exactOptional().describe('One, or several with commas.'),
      job: label.exactOptional(),
      queue: label.exactOptional(),
      schedule: label.exactOptional().describe('The name of a schedule.'),
      trigger: z.enum(RUN_TRIGGERS).exactOptional(),
      from: instantInput.exactOptional().describe('Inclusive.'),
      to: instantInput.exactOptional().describe('Exclusive.'),
      limit: limitOf(1_000),
      pageToken,
    }),
    answer: z.object({ runs: z.array(Run), nextPageToken }),
    problems: ['schedule_not_found', 'option_invalid'],
  }),
  enqueueRun: spec({
    method: 'post',
    path: '/runs',
    role: 'operator',
    groups: 'refused',
    tag,
    summary: 'Ask for one run of a job',
    description:
      'The same `Idempotency-Key` (or `key`) again, for the same job, gives the run that there is.',
    body: EnqueueRequest,
    headers: ['Idempotency-Key'],
    answer: Enqueued,
    alsoAnswers: { 201: 'It is new.' },
    problems: ['unknown_job', 'input_invalid', 'option_invalid'],
  }),
  enqueueRuns: spec({
    method: 'post',
    path: '/runs/bulk',
    role: 'operator',
    groups: 'refused',
    tag,
    summary: 'Ask for many runs of one job: all of them, or none',
    body: EnqueueManyRequest,
    answer: z.object({ runs: z.array(Enqueued).describe('In the order of the items.') }),
    problems: ['unknown_job', 'input_invalid', 'option_invalid'],
  }),
  getRun: spec({
    method: 'get',
    path: '/runs/{id}',
    role: 'viewer',
    groups: 'own',
    tag,
    summary: 'All about one run',
    params: one,
    answer: RunDetails,
    problems: ['run_not_found'],
  }),
  cancelRun: spec({
    method: 'post',
    path: '/runs/{id}/cancel',
    role: 'operator',
    groups: 'own',
    tag,
    summary: 'End an open run',
    description:
      'A handler that is at work on it is told, in whatever process. Repeating it changes nothing.',
    params: one,
    body: z.strictObject({ reason: text(1_000).exactOptional() }).optional(),
    answer: null,
    problems: ['run_not_found', 'run_not_open'],
  }),
  retryRun: spec({
    method: 'post',
    path: '/runs/{id}/retry',
    role: 'operator',
    groups: 'own',
    tag,
    summary: 'Give a failed run one more attempt',
    params: one,
    answer: null,
    problems: ['run_not_found', 'run_not_failed', 'run_open'],
  }),
  retryRuns: spec({
    method: 'post',
    path: '/runs/retry',
    role: 'operator',
    groups: 'own',
    tag,
    summary: 'Give all failed runs that a filter finds one more attempt',
    body: RetryFilter.optional(),
    answer: RetryReport,
    problems: ['schedule_not_found', 'option_invalid'],
  }),
}

export const runRoutes = routesOf(RUN_SPECS, {
  listRuns: ({ runs, query }) => findRuns(runs, query),
  async enqueueRun({ runs, body, idempotencyKey }) {
    const { job, input = null, ...terms } = body
    return answerEnqueued(await runs.enqueue(job, input, { ...terms, ...keyOf(idempotencyKey, terms.key) }))
  },
  enqueueRuns: async ({ runs, body }) => ({
    runs: await runs.enqueueMany(
      body.job,
      body.items.map(({ input = null, ...terms }) => ({ ...terms, input })),
    ),
  }),
  getRun: ({ runs, params }) => runs.details(params.id),
  cancelRun: ({ runs, params, body, actor }) => runs.cancel(params.id, { ...body, actor }),
  retryRun: ({ runs, params }) => runs.retry(params.id),
  retryRuns: ({ runs, body }) => runs.retryAll(body ?? {}),
})
