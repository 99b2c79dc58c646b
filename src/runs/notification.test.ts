import { describe, expect, it } from 'vitest'
import { readOrThrow } from '../time/report.js'
import { defineJob } from './job.js'
import { readNotifications } from './notification.js'

const read = (...given: unknown[]) =>
  readOrThrow('option_invalid', (report) => readNotifications(given, 'notify', report))

describe('notifications', () => {
  it('have defaults, and a job by its name or its handle', () => {
    const job = defineJob('page', { handler: () => {} })
    expect(read({ on: ['run.failed'], job })).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{16}$/),
        on: ['run.failed'],
        job: 'page',
        input: {},
        queue: 'default',
        priority: 0,
        group: null,
      },
    ])
    expect(read({ on: ['run.failed'], job: 'page', queue: undefined })).toEqual(
      read({ on: ['run.failed'], job }),
    )
  })

  it('are the same in each process that says the same, or uses the same name', () => {
    const idOf = (given: object) => read({ on: ['run.failed'], job: 'page', ...given })[0]!.id
    expect(idOf({ on: ['run.failed', 'schedule.broken'] })).toBe(
      idOf({ on: ['schedule.broken', 'run.failed'] }),
    )
    expect(idOf({ input: { to: 'ann' } })).not.toBe(idOf({ input: { to: 'bob' } }))
    expect(idOf({ name: 'night', input: { to: 'ann' } })).toBe(idOf({ name: 'night', input: { to: 'bob' } }))
  })

  it('are refused with every mistake at once', () => {
    const date = new Date(0)
    expect(() =>
      read(
        'http',
        { on: [], job: '' },
        { on: ['run.faild', 'run.succeeded'], job: 'page', inptu: {}, queue: '', priority: 0.5, group: 5 },
        { on: ['run.failed'], job: 'page', input: { event: 1, at: date } },
        { on: ['run.failed'], job: 'page', input: ['\0'] },
        { on: ['run.failed'], job: 'page', input: { text: '\0' } },
        { on: ['run.failed'], job: 'page', name: 'night' },
        { on: ['run.failed'], job: 'mail', name: 'night' },
        { on: ['schedule.broken', 'run.failed'], job: 'page' },
        { on: ['run.failed', 'schedule.broken'], job: 'page' },
      ),
    ).toThrowError(
      [
        'notify[0]: "http" – must be { on, job, input }',
        'notify[1].on: [] – must be a list of "schedule.broken" or "run.failed", or both',
        'notify[1].job: "" – must be a job or the name of one',
        'notify[2].inptu: unknown field (did you mean "input"?)',
        'notify[2].on: "run.faild" – must be "schedule.broken" or "run.failed" (did you mean "run.failed"?)',
        'notify[2].on: "run.succeeded" – must be "schedule.broken" or "run.failed"',
        'notify[2].queue: "" – must be a text, not empty',
        'notify[2].priority: 0.5 – must be a whole number',
        'notify[2].group: 5 – must be a text, not empty',
        'notify[3].input.event: is what happened, and cannot be given',
        'notify[3].input.at: a Date – is not JSON; give text or a plain object',
        'notify[4].input: ["\\u0000"] – must be an object: what happened joins it as event',
        'notify[5].input.text: holds U+0000 or half a surrogate pair, which jsonb cannot store',
        'notify[7]: has the name of notify[6]; leave it out, or give it a name of its own',
        'notify[9]: says the same as notify[8]; leave it out, or give it a name of its own',
      ].join('\n'),
    )
    expect(() =>
      readOrThrow('option_invalid', (report) => readNotifications({ on: [] }, 'notify', report)),
    ).toThrowError('notify: {"on":[]} – must be a list of { on, job, input }')
  })
})
