import { expect, it } from 'vitest'
import { minutesOf } from './herd-minutes.ts'

it('has sixty minutes, and adds what queues and groups ask for in each', () => {
  const from = Date.parse('2026-03-01T12:00:00Z')
  const minutes = minutesOf(
    [
      { from: '2026-03-01T12:00:00.000Z', runs: 1 },
      { from: '2026-03-01T12:59:00.000Z', runs: 2 },
      { from: '2026-03-01T12:59:00.000Z', runs: 3 },
      { from: '2026-03-01T13:00:00.000Z', runs: 9 },
    ],
    from,
  )
  expect(minutes).toHaveLength(60)
  expect(minutes.filter(({ runs }) => runs > 0)).toEqual([
    { from: new Date('2026-03-01T12:00:00Z'), runs: 1 },
    { from: new Date('2026-03-01T12:59:00Z'), runs: 5 },
  ])
})
