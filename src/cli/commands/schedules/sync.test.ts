import { describe, expect, it } from 'vitest'
import { declaredIn } from './sync.js'

describe('a file of schedules', () => {
  const definition = { job: 'send', timing: { kind: 'every', every: '1h' } }

  it('is an object by names, or a list as it was printed', () => {
    expect(declaredIn({ a: definition })).toEqual({ a: definition })
    expect(declaredIn({ schedules: { a: definition } })).toEqual({ a: definition })
    expect(declaredIn([{ ...definition, name: 'a', id: 'x', group: null }])).toEqual({ a: definition })
  })

  it.each([
    [7, 'file: 7 – must hold an object of definitions by their names'],
    [{ a: 7 }, 'file: a: 7 – must be an object with a job and a timing'],
    [[definition], 'file: [0]: must be an object with a name'],
    [[{ name: 'a' }, { name: 'a' }], 'file: "a" is there twice'],
  ])('is not %j', (content, message) => {
    expect(() => declaredIn(content)).toThrow(message)
  })
})
