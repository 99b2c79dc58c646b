import { z } from 'zod'
import { routesOf, spec } from '../route.js'
import { id, instant, instantInput, text, wholeNumber } from '../schemas/basics.js'

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
  .object({
    kind: z.string(),
    severity: z.enum(['problem', 'note']),
    subject: z.string(),
    detail: z.string(),
    fix: z.string(),
    command: z.string().nullable().describe('For a shell, or SQL, which ends in a semicolon.'),
  })
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
    description: 'Changes nothing. Costs the same with a million schedules and open runs as with a few.',
    answer: z.object({
      findings: z
        .array(Diagnosis)
        .describe('Problems first; at most 20 of a kind, and one that says how many more.'),
      version: z.string(),
      database: z.object({
        kind: z.enum(['postgres', 'pglite']),
        mode: z.enum(['direct', 'pooled']).describe('Behind a transaction pooler it is `pooled`.'),
        version: z.string(),
      }),
      schema: z
        .object({ name: z.string(), level: z.int(), known: z.int() })
        .describe('The newest migration that it has, and that this program knows.'),
      zoneData: z.string().describe('The version of the time zone data of the process that answers.'),
      schedulesZoneData: z
        .string()
        .nullable()
        .describe('That of the newest data with which an active schedule was computed.'),
      clockSkewMs: z.int().describe("By how much the database's clock is ahead of that of the process."),
      notificationMs: z
        .int()
        .nullable()
        .describe('How long a notification took from the process through the database back to it.'),
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

export const systemRoutes = routesOf(SYSTEM_SPECS, {
  getClaiming: ({ escapement }) => escapement.claiming.status(),
  async setClaiming({ escapement: { claiming }, body: { paused, ...reason }, actor }) {
    await (paused ? claiming.pause({ ...reason, actor }) : claiming.resume({ actor }))
    return claiming.status()
  },
  getAudit: ({ escapement, query }) => escapement.audit(query),
  getDiagnosis: ({ escapement }) => escapement.examine(),
  reconcile: async ({ escapement }) => ({ mended: await escapement.reconcile() }),
})
