import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { type Described, describeExamination } from './describe-examination.js'

const facts = {
  version: '1.2.3',
  database: { kind: 'postgres', mode: 'direct', version: '18.1' },
  schema: { name: 'escapement', level: 13, known: 13 },
  zoneData: '2025c',
  schedulesZoneData: '2025c',
  clockSkewMs: -4,
  notificationMs: 2,
} satisfies Omit<Described, 'findings'>

const overdue = {
  kind: 'missing_index',
  severity: 'problem',
  subject: 'runs_for_claiming',
  detail: 'an index of escapement.runs_open is not there',
  fix: 'build it: nobody who reads or writes waits for that',
  command: 'create index concurrently "runs_for_claiming" on "escapement"."runs_open" (queue);',
} as const
const paused = { ...overdue, kind: 'claiming_paused', severity: 'note', command: null } as const

const shown = (findings: Described['findings'], width?: number) =>
  stripVTControlCharacters(describeExamination({ ...facts, findings }, width)).split('\n')

describe('what a doctor found', () => {
  it('is one line in health, and below it what it was found with', () => {
    expect(shown([])).toEqual([
      '✔ Nothing is wrong.',
      '  escapement 1.2.3 · postgres 18.1 · schema escapement 13 · time zone data 2025c · clocks 4 ms apart · notifications 2 ms',
    ])
  })

  it('fits the terminal, but for commands, which are to be pasted', () => {
    const lines = shown([overdue], 30)
    expect(lines).toContain(`    ${overdue.command}`)
    expect(lines.filter((line) => line.length > 30)).toEqual([`    ${overdue.command}`])
    expect(lines.slice(0, 4)).toEqual([
      '✘ missing index',
      '  runs_for_claiming',
      '    an index of',
      '    escapement.runs_open is',
    ])
  })

  it('is counted, and notes are no problems', () => {
    expect(shown([overdue, overdue, paused])).toContain('✘ 2 problems, 1 note.')
    expect(shown([paused])).toContain('✔ No problem, 1 note.')
  })

  it('is told of where nothing could be asked', () => {
    const lines = describeExamination({ findings: [overdue], version: '1.2.3', zoneData: '2025c' }).split(
      '\n',
    )
    expect(lines.at(-1)).toContain('escapement 1.2.3 · time zone data 2025c')
  })
})
