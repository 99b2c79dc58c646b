import { z } from 'zod'
import { isStorable } from '../../runs/storable.js'

/** A text that can be stored and searched for. */
export const text = (longest: number) =>
  z.string().min(1).max(longest).refine(isStorable, 'must not hold U+0000 or half a surrogate pair')

export const label = text(200)

export const instant = z.iso.datetime().describe('ISO 8601 in UTC with milliseconds.')

/** Of a request: with an offset, or wall time where a zone is known. */
export const instantInput = z
  .string()
  .min(1)
  .max(64)
  .describe('ISO 8601. Without an offset it is wall time in the zone of the schedule, where there is one.')
  .meta({ examples: ['2026-12-01T09:00:00Z'] })

export const durationInput = z
  .string()
  .min(1)
  .max(200)
  .describe('Such as `90s`, `15 minutes`, `1 hour 30 minutes` or `PT1H30M`.')
  .meta({ examples: ['15 minutes'] })

/** A whole number in a query, which comes as text. */
export function wholeNumber(least: number, most: number) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value),
    z.int().min(least).max(most),
  )
}

/** Several words of a list in a query, with commas between them. */
export function wordsOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    z.array(z.enum(words)).min(1).max(words.length),
  )
}

export const pageToken = z
  .string()
  .min(1)
  .max(2_000)
  .refine(isStorable, 'is not one of ours')
  .exactOptional()
  .describe('`nextPageToken` of the page before.')

export const limitOf = (most: number) =>
  wholeNumber(1, most).default(100).describe('The longest page; one may be shorter and still have a next.')

export const nextPageToken = z
  .string()
  .nullable()
  .describe('Gives the next page; null after the last. A page may be short, or empty, and still have a next.')

export const json = z.unknown().describe('Any JSON.')

export const id = z.uuid()
