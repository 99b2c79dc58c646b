import fs from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DIAGNOSIS_KINDS, shellWord, told } from './diagnosis.js'

describe('findings', () => {
  it('are all in the guide, as grave as they are there', () => {
    const guide = fs.readFileSync(new URL('../../docs/guide/doctor.md', import.meta.url), 'utf8')
    const rows = [...guide.matchAll(/^\| `(\w+)` +\| (\w+) +\|/gm)].map(([, kind, severity]) => [
      kind,
      severity,
    ])
    expect(rows).toEqual(Object.entries(DIAGNOSIS_KINDS))
  })

  it('have the problems first', () => {
    const severities = Object.values(DIAGNOSIS_KINDS)
    expect(severities.lastIndexOf('problem')).toBeLessThan(severities.indexOf('note'))
  })

  it('beyond what is counted are said to be at least so many', () => {
    const tell = (subject: string) => ({ subject, detail: '', fix: '', command: null })
    const rows = Array.from({ length: 20 }, (_, index) => `s${index}`)
    expect(told('overdue', rows, tell, 20)).toHaveLength(20)
    expect(told('overdue', rows, tell, 999).at(-1)).toMatchObject({ subject: '979 more' })
    expect(told('overdue', rows, tell, 1_000).at(-1)).toMatchObject({ subject: 'at least 980 more' })
  })

  it('name in their commands what a shell would read as something else', () => {
    expect(shellWord('report:acme')).toBe('report:acme')
    expect(shellWord(`it's $HOME; rm`)).toBe(`'it'\\''s $HOME; rm'`)
    expect(shellWord('')).toBe(`''`)
  })
})
