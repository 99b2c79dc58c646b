import { setTimeout as sleep } from 'node:timers/promises'
import { inEnglish } from '../figures.js'
import type { Load } from './load.js'
import type { Processes } from './processes.js'
import type { Watcher } from './watching.js'

export interface Parts {
  load: Load
  processes: Processes
  watcher: Watcher
}

export interface Steps {
  /** Runs in a second, at first; each step has two fifths more, up to `most`. */
  first: number
  most: number
  stepMs: number
  /** Between what was kept up with and what was not: so often is the middle tried. */
  halvings: number
  /**
   * What was kept up with for a moment is tried for so long with all that the long run has, a process that is killed after a third of it and a
   * stranger's open transaction, and a tenth less until it is kept up with as well.
   */
  confirmMs: number
  /** In seconds of the load: whoever keeps up has no more than this lying before him. */
  waitingS: number
}

const GROWTH = 1.4
const LESS = 0.9
const DRAIN_POLL_MS = 200

/**
 * The highest rate of the load that the system keeps up with: from `above` downwards, or where that is not given, from the first step upwards. Whatever fails
 * once on the way up is tried again: the machine may have been busy.
 */
export async function findMaximum(
  { load, processes, watcher }: Parts,
  { first, most, stepMs, halvings, confirmMs, waitingS }: Steps,
  {
    print,
    signal,
    above,
  }: { print: (line: string) => void; signal: AbortSignal; above?: number | undefined },
): Promise<number> {
  async function keepsUp(rate: number, hold = calm): Promise<boolean> {
    await load.setRate(rate)
    await hold()
    processes.takeLateness()
    const lying = (await watcher.backlog()) + load.unanswered()
    const isAnswered = !load.takeFailure()
    const isKeptUp = isAnswered && lying <= rate * waitingS
    const verdict = isKeptUp ? '' : isAnswered ? ', which is too much' : ', and not all were taken'
    print(`${inEnglish(rate)} runs/s: ${inEnglish(lying)} wait${verdict}`)
    if (!isKeptUp) await drain()
    return isKeptUp
  }

  async function drain(): Promise<void> {
    load.rest()
    while ((await watcher.backlog()) + load.unanswered() > first) {
      await sleep(DRAIN_POLL_MS, undefined, { signal })
    }
    load.takeFailure()
  }

  async function calm(): Promise<void> {
    await sleep(stepMs, undefined, { signal })
  }

  async function asInLongRun(): Promise<void> {
    const leave = await watcher.holdTransaction()
    await sleep(confirmMs / 3, undefined, { signal })
    processes.killOne()
    await sleep((2 * confirmMs) / 3, undefined, { signal })
    await leave()
  }

  const holds = async (rate: number) => (await keepsUp(rate)) || (await keepsUp(rate))

  async function search(): Promise<number> {
    let [low, high] = [0, first]
    while (high <= most && (await holds(high))) [low, high] = [high, Math.ceil(high * GROWTH)]
    for (let halving = 0; halving < halvings && high <= most; halving++) {
      const middle = Math.round((low + high) / 2)
      if (await holds(middle)) low = middle
      else high = middle
    }
    return low
  }

  let rate = above ?? (await search())
  while (rate >= first && !(await keepsUp(rate, asInLongRun))) rate = Math.round(rate * LESS)
  if (rate < first) throw new Error(`Not even ${inEnglish(first)} runs in a second are kept up with here.`)
  return rate
}
