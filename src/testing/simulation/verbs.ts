import type { Escapement } from '../../escapement.js'
import type { Schedule } from '../../schedules/schedule.js'
import { type DurationInput, durationToMs } from '../../time/duration.js'
import { every as everySo } from '../../time/timing.js'
import type { SimulatedHost } from './process.js'

/** One act of somebody who uses the system: whatever it asks for, and whatever becomes of that. Returns what it did, in words. */
export type Act = (escapement: Escapement, host: SimulatedHost) => Promise<string>

/**
 * A verb each time, as chance has it, on a schedule that there is. Where one comes `every` so often, pauses last up to a day's worth of
 * that, and the timings that it puts yield about as often. What it adds ends after as long: it may be more than the workers can do.
 */
export function randomVerbs(every: DurationInput): Act {
  const everyMs = durationToMs(every)
  return (escapement, host) => randomVerb(escapement, host, everyMs)
}

async function randomVerb(escapement: Escapement, host: SimulatedHost, everyMs: number): Promise<string> {
  const { schedules, runs } = escapement
  const below = (limit: number) => Math.floor(host.chance() * limit)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
  const timing = () => everySo({ seconds: Math.ceil((everyMs * (1 + below(60))) / 6_000) })
  const all = await schedules.list({ limit: 1_000 })
  if (all.length === 0) return 'finds no schedule'
  const schedule = pick(all)
  const { name } = schedule
  const now = host.now().getTime()

  const verbs: Record<string, () => Promise<unknown>> = {
    pause: () => schedules.pause(name),
    pauseUntil: () => schedules.pause(name, { until: new Date(now + below(24 * everyMs)) }),
    resume: () => schedules.resume(name),
    trigger: () => schedules.trigger(name),
    skip: () => skipNext(escapement, schedule),
    backfill: () => schedules.backfill(name, { from: now - below(48 * everyMs), to: now }),
    patch: () => schedules.patch(name, { priority: below(10), catchUp: pick(['latest', 'all', 'none']) }),
    retime: () => schedules.patch(name, { timing: timing() }),
    put: () =>
      schedules.put(`simulated-${below(5)}`, {
        job: schedule.job,
        input: schedule.input,
        timing: timing(),
        overlap: pick(['allow', 'skip', 'queue', 'replace']),
        endAt: new Date(now + 24 * everyMs),
      }),
    rename: () => schedules.rename(name, `${name.replace(/~\d+$/, '')}~${below(100)}`),
    delete: () => schedules.delete(name, { runs: 'keep' }),
    retry: () => runs.retryAll({ schedule: name }),
    cancel: () => cancelOne(escapement),
    enqueue: () => runs.enqueue(schedule.job, schedule.input),
    pauseClaiming: () => escapement.claiming.pause({ reason: 'simulated' }),
    resumeClaiming: () => escapement.claiming.resume(),
  }
  const verb = pick(Object.keys(verbs))
  await verbs[verb]!()
  return `${verb} ${name}`
}

async function skipNext({ schedules }: Escapement, { name }: Schedule): Promise<void> {
  const { occurrences } = await schedules.preview(name, { count: 3 })
  const next = occurrences.at(-1)
  if (next) await schedules.skip(name, next.planTime)
}

async function cancelOne({ runs }: Escapement): Promise<void> {
  const { runs: open } = await runs.search({ state: ['pending', 'running', 'retrying'], limit: 1 })
  if (open[0]) await runs.cancel(open[0].id)
}
