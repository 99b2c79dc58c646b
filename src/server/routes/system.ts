import { z } from 'zod'
import { hostNow } from '../../clock.js'
import { zoneDataVersion } from '../../time/zone.js'
import { VERSION } from '../../version.js'
import { routesOf, spec } from '../route.js'
import { durationInput, id, instant, instantInput, text, wholeNumber } from '../schemas/basics.js'

const Claiming = z
  .object({
    paused: z.boolean(),
    reason: z.string().nullable(),
    by: z.string().nullable(),
    since: instant.nullable(),
  })
  .meta({ id: 'Claiming' })

const Finding = z
  .object({ schedule: z.string(), scope: z.string(), planTime: z.string(), detail: z.string() })
  .meta({ id: 'Finding' })

const AuditReport = z
  .object({
    schedules: z.int(),
    occurrences: z.int(),
    missing: z.array(Finding).describe('Plan times without an answer.'),
    double: z.array(Finding).describe('Plan times with two answers.'),
    unexpected: z.array(Finding).describe('Answers to plan times that nobody expected.'),
    zoneData: z.array(Finding).describe('Differences that other zone data explain: no mistakes.'),
    nextPageToken: z
      .string()
      .nullable()
      .describe('Goes on with the schedules after these; null after the last.'),
  })
  .meta({ id: 'AuditReport' })

const Diagnosis = z
  .object({ kind: z.string(), subject: z.string(), detail: z.string(), fix: z.string() })
  .meta({ id: 'Diagnosis' })

const common = { groups: 'refused', tag: 'System' } as const

export const SYSTEM_SPECS = {
  getClaiming: spec({
    ...common,
    method: 'get',
    path: '/claiming',
    role: 'viewer',
    summary: 'Whether runs are begun at all',
    answer: Claiming,
    problems: [],
  }),
  setClaiming: spec({
    ...common,
    method: 'post',
    path: '/claiming',
    role: 'operator',
    summary: 'Begin no run any more, or begin again',
    description: 'It holds for all processes, and through restarts. What runs goes on, and so does planning.',
    body: z.strictObject({ paused: z.boolean(), reason: text(1_000).exactOptional() }),
    answer: Claiming,
    problems: [],
  }),
  getForecast: spec({
    ...common,
    method: 'get',
    path: '/forecast',
    role: 'viewer',
    summary: 'How many runs are to come, by time, queue and group',
    query: z.strictObject({
      from: instantInput.exactOptional().describe('Inclusive; now by default.'),
      to: instantInput.exactOptional().describe('Exclusive; an hour after `from` by default.'),
      bucket: durationInput.default('1 minute'),
    }),
    answer: z.object({
      buckets: z.array(
        z.object({ from: instant, queue: z.string(), group: z.string().nullable(), runs: z.int() }),
      ),
    }),
    problems: ['option_invalid', 'range_too_large'],
  }),
  getAudit: spec({
    ...common,
    method: 'get',
    path: '/audit',
    role: 'viewer',
    summary: 'Prove that every occurrence has one answer',
    description: 'Computes all plan times anew; with many schedules that takes a while.',
    query: z.strictObject({
      from: instantInput.exactOptional(),
      to: instantInput.exactOptional(),
      limit: wholeNumber(1, 1_000_000)
        .exactOptional()
        .describe('How many schedules; all of them by default.'),
      pageToken: id.exactOptional().describe('`nextPageToken` of the report before.'),
    }),
    answer: AuditReport,
    problems: ['option_invalid'],
  }),
  getDiagnosis: spec({
    ...common,
    method: 'get',
    path: '/doctor',
    role: 'viewer',
    summary: 'What is wrong, and how to mend it',
    answer: z.object({
      findings: z.array(Diagnosis),
      version: z.string(),
      zoneData: z.string().describe('The version of the time zone data of the process that answers.'),
    }),
    problems: [],
  }),
  reconcile: spec({
    ...common,
    method: 'post',
    path: '/reconcile',
    role: 'admin',
    summary: 'Mend damaged cursors',
    answer: z.object({ mended: z.array(z.string()).describe('The names of the schedules that it mended.') }),
    problems: [],
  }),
}

const HOUR_MS = 3_600_000

export const systemRoutes = routesOf(SYSTEM_SPECS, {
  getClaiming: ({ escapement }) => escapement.claiming.status(),
  async setClaiming({ escapement: { claiming }, body: { paused, ...reason }, actor }) {
    await (paused ? claiming.pause({ ...reason, actor }) : claiming.resume({ actor }))
    return claiming.status()
  },
  async getForecast({ escapement, query: { from = new Date(hostNow()).toISOString(), to, bucket } }) {
    const end = to ?? new Date(new Date(from).getTime() + HOUR_MS)
    return { buckets: await escapement.forecast({ from, to: end, bucket }) }
  },
  getAudit: ({ escapement, query }) => escapement.audit(query),
  getDiagnosis: async ({ escapement }) => ({
    findings: await escapement.doctor(),
    version: VERSION,
    zoneData: zoneDataVersion(),
  }),
  reconcile: async ({ escapement }) => ({ mended: await escapement.reconcile() }),
})
