import type { Clock } from './clock.js'

/** What `work` comes to, or what `late` gives where it takes longer than `ms`. The work itself goes on. */
export function within<T, L>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  work: T | PromiseLike<T>,
  late: () => L,
): Promise<T | L> {
  let stopTimer = () => {}
  const tooLate = new Promise<void>((resolve) => {
    stopTimer = clock.after(ms, resolve)
  })
  return Promise.race([work, tooLate.then(late)]).finally(stopTimer)
}
