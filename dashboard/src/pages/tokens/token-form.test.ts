import { expect, it } from 'vitest'
import { commandOf, requestOf, type TokenForm } from './token-form.ts'

const plain: TokenForm = { name: ' ci ', role: 'operator', group: '', lifetime: '' }
const NOW = new Date('2026-03-01T12:00:00Z')

it('asks for what was filled in, and nothing else', () => {
  expect(requestOf(plain, NOW)).toEqual({ name: 'ci', role: 'operator' })
  expect(requestOf({ ...plain, group: ' acme ', lifetime: '90 days' }, NOW)).toEqual({
    name: 'ci',
    role: 'operator',
    group: 'acme',
    expiresAt: '2026-05-30T12:00:00.000Z',
  })
})

it('says the same for a terminal', () => {
  expect(commandOf(plain)).toBe(`escapement tokens create 'ci' --role operator`)
  expect(commandOf({ ...plain, name: "ann's", group: 'a b', lifetime: '30 days' })).toBe(
    `escapement tokens create 'ann'\\''s' --role operator --group 'a b' --expires-in '30 days'`,
  )
})
