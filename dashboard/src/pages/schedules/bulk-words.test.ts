import { expect, it } from 'vitest'
import { bulkCommand, canChange, filterInWords } from './bulk-words.ts'

it('writes the command for a terminal, with what has to be quoted quoted', () => {
  expect(bulkCommand('pause', { q: "acme's mail", group: 'g' }, 'their disk')).toBe(
    `escapement schedules pause --search 'acme'\\''s mail' --group 'g' --reason 'their disk'`,
  )
  expect(bulkCommand('resume', { state: 'broken', job: 'j' }, 'left over')).toBe(
    `escapement schedules resume --state 'broken' --job 'j'`,
  )
  expect(bulkCommand('pause', {}, '')).toBe('escapement schedules pause --all')
})

it('says which schedules are meant, and nothing where all are', () => {
  expect(filterInWords({ job: 'send-report', q: 'acme' })).toBe(
    'with the words “acme”, of the job “send-report”',
  )
  expect(filterInWords({})).toBeUndefined()
})

it('knows the states in which a verb changes something', () => {
  const states = ['active', 'paused', 'broken', 'finished'] as const
  expect(states.filter((state) => canChange('pause', { state }))).toEqual(['active', 'broken'])
  expect(states.filter((state) => canChange('resume', { state }))).toEqual(['paused', 'broken'])
  expect(canChange('pause', {})).toBe(true)
})
