import { describe, expect, it } from 'vitest'
import { type Action, hardDelete, set, softDelete, type TransitionValue } from './action.js'
import { planRow } from './plan.js'
import type { SweptField } from './table.js'

const VALUES = ['draft', 'published', 'archived']

/** Fields as the catalogue resolves them, where each value is equal to itself alone. */
function tableOf(...actions: Action<string, TransitionValue>[]) {
  const fields = actions.map((action, id): SweptField => {
    const classOf = (value: TransitionValue) => VALUES.indexOf(String(value))
    const from = action.action === 'set' && action.from !== undefined ? classOf(action.from) : null
    return {
      id,
      name: `at_${id}`,
      action,
      classes: action.action === 'set' ? { from, to: classOf(action.to) } : null,
    }
  })
  return { fields }
}

const publish = set('status', { from: 'draft', to: 'published' })
const archive = set('status', { from: 'published', to: 'archived' })
const close = set('comments', { to: 'archived' })
const row = { isDeleted: false, matches: [true, false, true, true, true] }
const stepsOf = (table: ReturnType<typeof tableOf>, due: number[], more: Partial<typeof row> = {}) =>
  planRow(table, { ...row, ...more, due }).steps.map(({ field, after }) => [field, after])

describe('a plan of a row', () => {
  it('takes due fields in their order, each on what the one before has left', () => {
    const table = tableOf(publish, archive, close)
    const plan = planRow(table, { ...row, due: [0, 2, 1] })
    expect(plan.steps).toEqual([
      { field: 0, after: null },
      { field: 2, after: null },
      { field: 1, after: 0 },
    ])
    expect([...plan.columns]).toEqual([
      ['status', 1],
      ['comments', 2],
    ])
  })

  it('comes back to a field that a later one has made applicable', () => {
    expect(stepsOf(tableOf(publish, archive), [1, 0])).toEqual([
      [0, null],
      [1, 0],
    ])
  })

  it('applies each field once, also where they would go round for ever', () => {
    const back = set('status', { from: 'published', to: 'draft' })
    expect(stepsOf(tableOf(publish, back), [0, 1])).toEqual([
      [0, null],
      [1, 0],
    ])
  })

  it('without from leaves a value alone that an earlier step has brought about', () => {
    expect(
      stepsOf(tableOf(publish, set('status', { to: 'published' })), [0, 1], { matches: [true, true] }),
    ).toEqual([[0, null]])
  })

  it('does nothing to a deleted row but delete it for good, and nothing after that', () => {
    const table = tableOf(softDelete(), publish, hardDelete(), close)
    expect(stepsOf(table, [0, 1, 2, 3], { matches: [true, true, true, true] })).toEqual([
      [0, null],
      [2, null],
    ])
    expect(stepsOf(table, [0, 1, 2], { matches: [true, true, true], isDeleted: true })).toEqual([[2, null]])
    expect(planRow(table, { due: [0], matches: [true], isDeleted: true })).toMatchObject({
      steps: [],
      softDeletes: false,
    })
  })

  it('stops after as many steps as it may take', () => {
    expect(planRow(tableOf(publish, archive), { ...row, due: [0, 1] }, 1).steps).toHaveLength(1)
  })
})
