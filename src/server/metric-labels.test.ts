import { expect, it } from 'vitest'
import { createLabels } from './metric-labels.js'

it('the first names keep their own label, and all that come later share one', () => {
  const labelOf = createLabels(2)
  expect(['a', 'b', 'c', 'a', 'd', null, 'b'].map(labelOf)).toEqual([
    'a',
    'b',
    'other',
    'a',
    'other',
    'other',
    'b',
  ])
})
