import { expect, it } from 'vitest'
import { EventWindow } from './event-window.js'

const taken = (window: EventWindow<string>) => {
  const { entries, dropped } = window.take()
  return { entries: entries.map(({ entry }) => entry), dropped }
}

it('gives what was added, in order, once', () => {
  const window = new EventWindow<string>(100)
  expect(window.isEmpty).toBe(true)
  window.add('run.created', 'a', 10)
  window.add('run.failed', 'b', 10)
  expect(window.isEmpty).toBe(false)
  expect(taken(window)).toEqual({ entries: ['a', 'b'], dropped: {} })
  expect(taken(window)).toEqual({ entries: [], dropped: {} })
  expect(window.isEmpty).toBe(true)
})

it('counts by name what finds no room, and looks at nothing more of that kind until it is taken', () => {
  const window = new EventWindow<string>(100)
  for (const entry of ['a', 'b', 'c']) window.add('run.started', entry, 30)
  // Small enough, but what came before it was dropped.
  expect(window.admits('run.succeeded')).toBe(false)
  expect(window.isEmpty).toBe(false)
  expect(taken(window)).toEqual({ entries: ['a', 'b'], dropped: { 'run.started': 1, 'run.succeeded': 1 } })
  expect(window.admits('run.started')).toBe(true)
})

it('leaves room to what is rare in a flood of what is common', () => {
  const window = new EventWindow<string>(100)
  for (let n = 0; n < 50; n++) if (window.admits('run.started')) window.add('run.started', 'flood', 10)
  expect(window.admits('schedule.paused')).toBe(true)
  window.add('schedule.paused', 'rare', 20)
  const { entries, dropped } = taken(window)
  expect(entries).toEqual([...Array(8).fill('flood'), 'rare'])
  expect(dropped).toEqual({ 'run.started': 42 })
})

it('drops alone what would not fit alone', () => {
  const window = new EventWindow<string>(100)
  window.add('transition.applied', 'huge', 1_000)
  expect(window.admits('transition.applied')).toBe(true)
  window.add('transition.applied', 'small', 10)
  expect(taken(window)).toEqual({ entries: ['small'], dropped: { 'transition.applied': 1 } })
})

it('keeps the newest of those with the same key, where it was said last', () => {
  const window = new EventWindow<string>(100)
  window.add('run.progress', 'a 10%', 30, 'a')
  window.add('run.progress', 'b 10%', 30, 'b')
  for (let n = 2; n < 10; n++) window.add('run.progress', `a ${n}0%`, 40, 'a')
  expect(taken(window)).toEqual({ entries: ['b 10%', 'a 90%'], dropped: {} })
})
