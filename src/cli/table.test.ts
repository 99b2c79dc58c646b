import pc from 'picocolors'
import { describe, expect, it } from 'vitest'
import { type Column, cut, formatColumns, formatTable } from './table.js'

const header = ['NAME', 'STATE', 'TIMING']
const rows = [
  ['report:acme', 'active', 'at 09:00, Monday through Friday, in America/New_York'],
  ['sync', 'paused', 'every 15 minutes'],
]

describe('a table', () => {
  it('has columns as wide as their widest cell where nobody looks', () => {
    expect(formatTable(header, rows, undefined)).toBe(
      [
        'NAME         STATE   TIMING',
        'report:acme  active  at 09:00, Monday through Friday, in America/New_York',
        'sync         paused  every 15 minutes',
      ].join('\n'),
    )
  })

  it('fits a terminal: the widest column is cut, and never that by which a row is named', () => {
    expect(formatTable(header, rows, 40)).toBe(
      [
        'NAME         STATE   TIMING',
        'report:acme  active  at 09:00, Monday t…',
        'sync         paused  every 15 minutes',
      ].join('\n'),
    )
  })

  it('cuts the names too where nothing else is left to cut', () => {
    const lines = formatTable(['NAME', 'JOB'], [['x'.repeat(50), 'send']], 20).split('\n')
    expect(lines[1]).toBe(`${'x'.repeat(13)}…  send`)
  })

  it('counts what a character takes on the screen, and not what it takes in memory', () => {
    const colours = pc.createColors(true)
    const lines = formatTable(
      ['A', 'B'],
      [
        [colours.green('漢字'), 'x'],
        ['abcde', 'y'],
      ],
      undefined,
    ).split('\n')
    expect(lines[1]).toBe(`${colours.green('漢字')}   x`)
    expect(cut(colours.red('漢字漢字'), 5)).toBe(colours.red('漢字…'))
    expect(cut('👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3)).toBe('👩‍👩‍👧‍👦…')
  })
})

describe('columns that say how they are filled', () => {
  const columns: Column<string>[] = [
    { title: 'NAME', cell: (item) => item },
    { title: 'NOTE', cell: () => '' },
    { title: 'SINCE', cell: () => '2 hours ago', isSpare: true },
    { title: 'TIMING', cell: () => 'at 09:00, Monday to Friday' },
    { title: 'RUN', cell: () => 'ce31014e', isRigid: true },
    { title: 'BY', cell: () => 'ann', isSpare: true },
  ]

  it('leave out one that is empty, and spare ones only where the others would be hard to read', () => {
    const lineAt = (width: number) => formatColumns(columns, ['report'], width).split('\n')[1]
    expect(lineAt(100)).toBe('report  2 hours ago  at 09:00, Monday to Friday  ce31014e  ann')
    expect(lineAt(56)).toBe('report  2 hours ago  at 09:00, Monday to…  ce31014e  ann')
    expect(lineAt(55)).toBe('report  at 09:00, Monday to Friday  ce31014e  ann')
    expect(lineAt(38)).toBe('report  at 09:00, Monday to…  ce31014e')
  })

  it('are cut last where what is cut of them says nothing', () => {
    expect(formatColumns(columns, ['report'], 26).split('\n')[1]).toBe('report  at 09:0…  ce31014e')
  })
})
