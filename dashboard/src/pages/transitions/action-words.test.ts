import { expect, it } from 'vitest'
import { actionWords } from './action-words.ts'

it('says what becomes of a row', () => {
  expect(actionWords({ action: 'set', column: 'status', from: 'draft', to: 'published' })).toBe(
    'status goes from “draft” to “published”',
  )
  expect(actionWords({ action: 'set', column: 'active', to: false })).toBe('active becomes false')
  expect(actionWords({ action: 'set', column: 'owner', from: 'ann', to: null })).toBe(
    'owner goes from “ann” to null',
  )
  expect(actionWords({ action: 'softDelete', column: 'deleted_at' })).toBe(
    'the row is marked as deleted in deleted_at',
  )
  expect(actionWords({ action: 'hardDelete', column: null })).toBe('the row is deleted for good')
})
