import { expect, it } from 'vitest'
import { benchFire, QUICK as FIRE } from '../../bench/fire.js'
import { benchLayout, QUICK as LAYOUT } from '../../bench/layout.js'

it('the bench of firing runs, and every herd gets all its runs', async () => {
  const lines: string[] = []
  await benchFire(FIRE, (line) => lines.push(line))
  expect(lines.join('\n')).toMatch(/500 due: [\d,]+ .* schedules\/s/)
})

it('the bench of the two layouts runs', async () => {
  const lines: string[] = []
  await benchLayout(LAYOUT, (line) => lines.push(line))
  expect(lines.map((line) => line.split(':')[0])).toEqual(['wide', 'narrow'])
})
