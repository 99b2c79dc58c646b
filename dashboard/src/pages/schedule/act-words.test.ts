import { expect, it } from 'vitest'
import { actWords } from './act-words.ts'

it.each([
  ['put', true, { words: 'Created' }],
  ['sync', true, { words: 'Created by a sync' }],
  ['patch', false, { words: 'Changed' }],
  ['backfill 3 runs', false, { words: 'Backfilled 3 runs' }],
  ['trigger 01a', false, { words: 'Triggered', runId: '01a' }],
  ['skip 2026-12-01T09:00:00.000Z', false, { words: 'To be skipped:', planTime: '2026-12-01T09:00:00.000Z' }],
  ['something newer', false, { words: 'something newer' }],
])('%s', (action, isCreation, expected) => {
  expect(actWords(action, isCreation)).toEqual(expected)
})
