import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { EscapementError } from '../errors.js'
import { linesResponse } from './lines-response.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function* after(waiting: Promise<void>) {
  await waiting
  yield 'one\n'
  yield 'two\n'
}

/** What is read of an answer whose first line takes 40 s, with `end` for how that ends. */
async function answered(end: (resolve: () => void, reject: (error: Error) => void) => void): Promise<string> {
  const waiting = new Promise<void>((resolve, reject) => {
    setTimeout(() => end(resolve, reject), 40_000)
  })
  const text = linesResponse(after(waiting)).then((response) => response.text())
  await vi.advanceTimersByTimeAsync(60_000)
  return text
}

it('is heard of while its first line takes its time', async () => {
  expect(await answered((resolve) => resolve())).toBe('\n\none\ntwo\n')
})

it('says what went wrong meanwhile in its last line', async () => {
  const error = new EscapementError('run_open', { message: 'still at work' })
  expect(await answered((_, reject) => reject(error))).toBe(
    '\n\n{"failed":{"code":"run_open","message":"still at work"}}\n',
  )
})
