import { expect, it } from 'vitest'
import { eventsOf } from './schedule-events.js'

const act = { scheduleId: 'id', schedule: 's', version: 1 }

it.each([
  ['put', 'schedule.changed'],
  ['patch', 'schedule.changed'],
  ['sync', 'schedule.changed'],
  ['rename', 'schedule.changed'],
  ['skip', 'schedule.changed'],
  ['unskip', 'schedule.changed'],
  ['pause', 'schedule.paused'],
  ['resume', 'schedule.resumed'],
  ['finish', 'schedule.finished'],
  ['delete', 'schedule.deleted'],
])('%s gives %s', (action, name) => {
  expect(eventsOf({ ...act, action })).toEqual([name])
})

it('tells what came of an act after the act itself, each once', () => {
  expect(eventsOf({ ...act, action: 'resume', isFinished: true, isDeleted: true })).toEqual([
    'schedule.resumed',
    'schedule.finished',
    'schedule.deleted',
  ])
  expect(eventsOf({ ...act, action: 'finish', isFinished: true, isDeleted: true })).toEqual([
    'schedule.finished',
    'schedule.deleted',
  ])
})
