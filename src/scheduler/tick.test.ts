import { describe, expect, it } from 'vitest'
import type { Offer } from '../store/queries/planned-lots.js'
import type { PlannedDue } from '../store/queries/recording.js'
import { placesFor, type WorkerHere } from './tick.js'

/** One that would make any offer; `asked` holds what it was asked for. */
function worker() {
  const asked: number[] = []
  let expects = 0
  const here: WorkerHere = {
    beginning: () => [],
    isAtRest: () => true,
    offer(wanted) {
      asked.push(wanted)
      return { places: wanted } as Offer
    },
    expectLots: () => void expects++,
  }
  return { here, asked, expected: () => expects }
}

const planned = (input: string | null, runs: number) =>
  ({ schedule: { input }, plan: { runs: Array.from({ length: runs }, () => ({})) } }) as PlannedDue

describe('places for what is planned', () => {
  it('are asked for where some of it may begin here', () => {
    const { here, asked } = worker()
    expect(placesFor([planned('null', 1), planned(null, 2)], here)).toMatchObject({ places: 3 })
    expect(asked).toEqual([3])
  })

  it('are not asked for where none of it may: they would be kept from others', () => {
    const { here, asked, expected } = worker()
    expect(placesFor([planned(null, 1), planned(null, 2), planned('{}', 0)], here)).toBeNull()
    expect(asked).toEqual([])
    expect(expected()).toBe(1)
  })
})
