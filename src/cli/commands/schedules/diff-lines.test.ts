import { describe, expect, it } from 'vitest'
import { formatDiff } from './diff-lines.js'

const now = Date.parse('2026-11-15T15:30:00Z')

describe('a diff', () => {
  const none = { removed: [], moved: [], added: [], kept: [], fields: [] }
  const at = { zone: undefined, now }

  it('is one line for each plan time that goes, moves or comes, in their order', () => {
    const diff = {
      removed: ['2026-11-18T15:30:00.000Z'],
      moved: [{ from: '2026-11-16T15:30:00.000Z', to: '2026-11-16T16:30:00.000Z' }],
      added: ['2026-11-17T15:30:00.000Z'],
      kept: ['2026-11-19T15:30:00.000Z'],
      fields: ['timing'],
    }
    expect(formatDiff(diff, at).split('\n')).toEqual([
      'Would change: timing.',
      '~ 2026-11-16 12:00 → 2026-11-16 13:00 (in 25 hours)',
      '+ 2026-11-17 12:00 (in 2 days)',
      '- 2026-11-18 12:00 (in 3 days)',
      'Of its next plan times: 1 removed, 1 moved, 1 added, 1 kept.',
    ])
  })

  it('says where plan times stay, and where nothing changes', () => {
    expect(formatDiff({ ...none, fields: ['group'], kept: ['2026-11-19T15:30:00.000Z'] }, at)).toBe(
      'Would change: group.\nIts next plan times stay as they are.',
    )
    expect(formatDiff(none, at)).toBe('Nothing would change.')
  })
})
