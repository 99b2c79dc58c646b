import { z } from 'zod'
import { routesOf, spec } from '../route.js'
import { instant, json } from '../schemas/basics.js'

const counts = {
  updated: z.int(),
  deleted: z.int(),
  skipped: z.int(),
  quarantined: z.int(),
  truncated: z.boolean(),
}

const field = z.object({
  field: z.string(),
  action: z.enum(['set', 'softDelete', 'hardDelete']),
  column: z.string().nullable(),
  from: json.exactOptional(),
  to: json.exactOptional(),
  due: z.int().describe('How many rows, counted up to 10,000.'),
  nextDueAt: instant.nullable(),
  quarantined: z.int(),
})

const Transition = z
  .object({
    table: z.string(),
    key: z.array(z.string()),
    softDelete: z.string().nullable(),
    rowSecurity: z.boolean(),
    due: z.int(),
    nextDueAt: instant.nullable(),
    quarantined: z.int(),
    fields: z.array(field),
  })
  .meta({ id: 'Transition' })

const common = { groups: 'refused', tag: 'Transitions' } as const

export const TRANSITION_SPECS = {
  listTransitions: spec({
    ...common,
    method: 'get',
    path: '/transitions',
    role: 'viewer',
    summary: 'What this process has declared, with what is due',
    answer: z.object({ transitions: z.array(Transition) }),
    problems: [],
  }),
  sweepTransitions: spec({
    ...common,
    method: 'post',
    path: '/transitions/sweep',
    role: 'operator',
    summary: 'Change the rows that are due: of each table one batch',
    body: z
      .strictObject({
        quarantined: z.boolean().exactOptional().describe('Also try again what was set aside.'),
      })
      .optional(),
    answer: z.object({
      ...counts,
      tables: z.array(z.object({ table: z.string(), ...counts })),
      errors: z.array(
        z.object({
          table: z.string(),
          key: z.record(z.string(), json).exactOptional(),
          message: z.string(),
        }),
      ),
    }),
    problems: [],
  }),
}

export const transitionRoutes = routesOf(TRANSITION_SPECS, {
  listTransitions: async ({ escapement }) => ({ transitions: await escapement.transitions.list() }),
  sweepTransitions: ({ escapement, body }) => escapement.transitions.sweep(body ?? {}),
})
