/** What a schedule and a direct run both say about the work: which job, with what input, in which queue, how urgent. */
import { quote, type Report } from '../time/report.js'
import type { Job } from './job.js'
import { isStorable, jsonMistake } from './storable.js'

export const DEFAULT_QUEUE = 'default'
const INT4_MAX = 2_147_483_647

export function readJobName(job: unknown, field: string, report: Report): string {
  const name = typeof job === 'object' && job !== null ? (job as Job).name : job
  if (typeof name === 'string' && name !== '' && isStorable(name)) return name
  report(field, `${quote(job)} – must be a job or the name of one`)
  return ''
}

export function readText(value: unknown, field: string, report: Report): string {
  if (typeof value !== 'string' || value === '' || !isStorable(value)) {
    report(field, `${quote(value)} – must be a text, not empty`)
  }
  return value as string
}

/** Labels are in indexes, which hold no long texts. */
const LONGEST_LABEL = 200

export function readLabel(value: unknown, field: string, report: Report): string {
  const label = readText(value, field, report)
  if (typeof label === 'string' && label.length > LONGEST_LABEL) {
    report(field, `${quote(label)} – is longer than ${LONGEST_LABEL} characters`)
  }
  return label
}

export function readPriority(priority: unknown, field: string, report: Report): number {
  if (!Number.isInteger(priority) || Math.abs(priority as number) > INT4_MAX) {
    report(field, `${quote(priority)} – must be a whole number`)
  }
  return priority as number
}

/** A value as JSON makes it. */
export function readJson(value: unknown, field: string, report: Report): unknown {
  return JSON.parse(readJsonText(value, field, report))
}

/** What JSON cannot carry would come back as something else, so it is refused. */
export function readJsonText(value: unknown, field: string, report: Report): string {
  try {
    const mistake = jsonMistake(value, field)
    if (!mistake) return JSON.stringify(value)
    report(mistake.field, mistake.message)
  } catch (error) {
    report(field, `is not JSON: ${(error as Error).message}`)
  }
  return 'null'
}
