import { z } from 'zod'
import { durationInput, instantInput } from './basics.js'

const zone = z.string().min(1).max(100).describe('IANA name such as `Europe/Paris`. By default `UTC`.')

/** As a caller writes it: what is left out takes its default. */
export const TimingInput = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('once'), at: instantInput, zone: zone.exactOptional() }),
    z.strictObject({
      kind: z.literal('every'),
      every: durationInput,
      anchor: instantInput.exactOptional(),
      zone: zone.exactOptional(),
    }),
    z.strictObject({
      kind: z.literal('cron'),
      expression: z
        .string()
        .min(1)
        .max(1_000)
        .meta({ examples: ['0 9 * * MON-FRI'] }),
      zone: zone.exactOptional(),
      gap: z.enum(['shift', 'skip']).exactOptional(),
      fold: z.enum(['first', 'second', 'both']).exactOptional(),
    }),
    z.strictObject({ kind: z.literal('after'), interval: durationInput }),
    z.strictObject({
      kind: z.literal('rrule'),
      rule: z
        .string()
        .min(1)
        .max(10_000)
        .meta({ examples: ['FREQ=MONTHLY;BYDAY=-1FR'] }),
      zone: zone.exactOptional(),
      begins: instantInput.exactOptional(),
    }),
  ])
  .describe('The rule that yields plan times.')
  .meta({ id: 'TimingInput' })

/** As it is kept: every default filled in. */
export const Timing = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('once'), at: z.string(), zone: z.string() }),
    z.object({ kind: z.literal('every'), every: z.string(), anchor: z.string(), zone: z.string() }),
    z.object({
      kind: z.literal('cron'),
      expression: z.string(),
      zone: z.string(),
      gap: z.enum(['shift', 'skip']),
      fold: z.enum(['first', 'second', 'both']),
    }),
    z.object({ kind: z.literal('after'), interval: z.string() }),
    z.object({
      kind: z.literal('rrule'),
      rule: z.string(),
      zone: z.string(),
      begins: z.string().exactOptional(),
    }),
  ])
  .meta({ id: 'Timing' })

export const PreviewedOccurrence = z
  .object({
    planTime: z.string(),
    local: z.string().describe('The same on the wall of the zone, with its offset then.'),
    note: z.string().exactOptional().describe('What daylight saving did to it.'),
  })
  .meta({ id: 'PreviewedOccurrence' })
