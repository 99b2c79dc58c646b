import stringWidth from 'string-width'
import type { Examination } from '../client/doctor.js'
import { colours } from './colours.js'
import { terminalWidth } from './table.js'

/** What a server said, or, where none could be asked, the finding that says so and what this program knows of itself. */
export type Described = Pick<Examination, 'version' | 'zoneData'> &
  Partial<Omit<Examination, 'findings'>> & { findings: readonly FindingText[] }

/** A kind as it came: a server may be newer than this program. */
type FindingText = Omit<Examination['findings'][number], 'kind'> & { kind: string }

/** For a person: what was found, how much that is, and what it was found with. Commands are never broken, so that they can be pasted. */
export function describeExamination(report: Described, width: number | undefined = terminalWidth()): string {
  const found = report.findings.flatMap((finding) => [...describeFinding(finding, width), ''])
  return [
    ...found,
    summaryOf(report.findings),
    ...wrapped(factsOf(report), width, '  ').map(colours.dim),
  ].join('\n')
}

function describeFinding(
  { kind, severity, subject, detail, fix, command }: FindingText,
  width?: number,
): string[] {
  const mark = severity === 'problem' ? colours.red('✘') : colours.yellow('!')
  const head = `${mark} ${colours.bold(kind.replaceAll('_', ' '))}`
  const fits = width === undefined || stringWidth(`${head}  ${subject}`) <= width
  return [
    ...(fits ? [`${head}  ${subject}`] : [head, ...wrapped(subject, width, '  ')]),
    ...wrapped(detail, width, '    '),
    ...wrapped(`→ ${fix}`, width, '    '),
    ...(command === null ? [] : [`    ${colours.cyan(command)}`]),
  ]
}

function summaryOf(findings: readonly FindingText[]): string {
  if (findings.length === 0) return `${colours.green('✔')} Nothing is wrong.`
  const problems = findings.filter(({ severity }) => severity === 'problem').length
  const notes = findings.length - problems
  if (problems === 0) return `${colours.green('✔')} No problem, ${many(notes, 'note')}.`
  return `${colours.red('✘')} ${many(problems, 'problem')}${notes === 0 ? '' : `, ${many(notes, 'note')}`}.`
}

const many = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

function factsOf({ version, zoneData, ...facts }: Described): string {
  const { database, schema, clockSkewMs, notificationMs } = facts
  return [
    `escapement ${version}`,
    ...(database ? [`${database.kind} ${database.version}`] : []),
    ...(schema ? [`schema ${schema.name} ${schema.level}`] : []),
    `time zone data ${zoneData}`,
    ...(clockSkewMs === undefined ? [] : [`clocks ${Math.abs(clockSkewMs)} ms apart`]),
    ...(notificationMs === undefined || notificationMs === null
      ? []
      : [`notifications ${notificationMs} ms`]),
  ].join(' · ')
}

/** Broken between words, each line indented; a word that is too long by itself stays whole. */
function wrapped(text: string, width: number | undefined, indent: string): string[] {
  if (width === undefined) return [indent + text]
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && stringWidth(`${last} ${word}`) <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(indent + word)
  }
  return lines
}
