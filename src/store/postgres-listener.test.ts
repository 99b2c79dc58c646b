import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openListener } from './postgres-listener.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Connections that answer as told: `null` for none to be had, an error for one that refuses its first statement. */
function connections(...answers: ({ isFree: boolean } | Error | null)[]) {
  const state = { opened: 0, ended: 0, last: new EventEmitter() }
  const connect = async () => {
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    if (!answer) throw new Error('too many connections')
    state.opened += 1
    const client = Object.assign(new EventEmitter(), {
      query: async () => {
        if (answer instanceof Error) throw answer
        return { rows: [{ taken: answer.isFree }], command: 'SELECT' }
      },
    })
    state.last = client
    const end = async () => {
      state.ended += 1
    }
    return { client, end }
  }
  return { state, listener: openListener(connect) }
}

it('a lock counts as held from when it is taken, by whichever try, until its session is lost', async () => {
  const theirs = { isFree: false }
  const { state, listener } = connections(null, theirs, { isFree: true })
  const told: boolean[] = []
  await listener.holdLock('7', (isHeld) => told.push(isHeld))
  await vi.advanceTimersByTimeAsync(1_500)
  expect([state.opened, told]).toEqual([1, []])
  // Our session that broke is gone from the server at last.
  theirs.isFree = true
  await vi.advanceTimersByTimeAsync(1_000)
  expect(told).toEqual([true])
  state.last.emit('end')
  expect(told).toEqual([true, false])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(told).toEqual([true, false, true])
  await listener.close()
})

it('a lock is let go of by the session that has taken it, also while that takes others', async () => {
  const statements: string[] = []
  let answerSecond = () => {}
  let isSecond = false
  const connect = async () => {
    const client = Object.assign(new EventEmitter(), {
      query: async ({ text }: { text: string }) => {
        statements.push(text)
        if (isSecond && text.includes('try_advisory_lock(8)'))
          await new Promise<void>((resolve) => {
            answerSecond = resolve
          })
        return { rows: [{ taken: true }], command: 'SELECT' }
      },
    })
    last = client
    return { client, end: async () => {} }
  }
  let last = new EventEmitter()
  const listener = openListener(connect)
  const letGo = await listener.holdLock('7', () => {})
  await listener.holdLock('8', () => {})
  isSecond = true
  last.emit('end')
  await vi.advanceTimersByTimeAsync(200)
  statements.length = 0
  await letGo!()
  expect(statements).toEqual(['select pg_advisory_unlock(7)'])
  answerSecond()
  await listener.close()
})

it('a connection on which nothing can be listened to is not left behind', async () => {
  const { state, listener } = connections(new Error('the server is going down'))
  await listener.listen('c', () => {})
  await vi.advanceTimersByTimeAsync(10_000)
  expect(state.opened).toBeGreaterThan(5)
  expect(state.ended).toBe(state.opened)
  await listener.close()
})
