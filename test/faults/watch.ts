/** Looks at the tables all the time, past all proxies: whether anything is overdue, and for how long after a fault. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultEntry } from './history.js'
import { openJournal } from './history.js'
import type { World } from './world.js'

interface Look {
  at: number
  /** Cursors that a scheduler ought to have moved, leases that ended, and runs that a worker ought to have begun. */
  cursors: number
  leases: number
  waiting: number
}

/** From a fault to the first look at which nothing was overdue, through all faults that came in between. */
export interface Recovery {
  fault: FaultEntry
  /** Milliseconds from the end of this fault; null where that was never seen. */
  ms: number | null
  /** The same from the end of the last fault before that look. */
  inPeaceMs: number | null
}

export interface Watch {
  recoveries(faults: readonly FaultEntry[]): Recovery[]
  stop(): Promise<void>
}

const OVERDUE = `
  select (extract(epoch from clock_timestamp()) * 1000)::float8 as at,
    (select count(*)::int from escapement.cursors as c join escapement.schedules as s on s.id = c.schedule_id
     where s.state = 'active' and c.wake_at < clock_timestamp() - interval '1.5 seconds') as cursors,
    (select count(*)::int from (
       select lease_expires_at from escapement.runs_open where state = 'running'
       union all select lease_expires_at from escapement.lots
     ) as leased where lease_expires_at < clock_timestamp() - interval '1.5 seconds') as leases,
    (select count(*)::int from (
       select job, eligible_at from escapement.runs_open where state <> 'running' and coalesce(lane, 0) = 0
       union all select job, eligible_at from escapement.lots where lease_token is null
     ) as waiting where job <> 'few' and eligible_at < clock_timestamp() - interval '3 seconds') as waiting`

export function startWatch(world: World, file: string): Watch {
  const looks = openJournal<Look>(file)
  let isStopping = false
  const watching = (async () => {
    while (!isStopping) {
      try {
        const [look] = await world.query<Look>(OVERDUE)
        looks.write(look!)
      } catch {
        // The database is away, or has no connection left: nobody can see anything then.
      }
      await sleep(400)
    }
  })()
  return {
    recoveries(faults) {
      const healthy = looks.entries.filter(({ cursors, leases, waiting }) => cursors + leases + waiting === 0)
      const inOrder = faults.toSorted((a, b) => a.t1 - b.t1)
      let place = 0
      let last = 0
      return inOrder.map((fault) => {
        while (place < healthy.length && healthy[place]!.at < fault.t1) place += 1
        const look = healthy[place]
        while (look && last + 1 < inOrder.length && inOrder[last + 1]!.t1 <= look.at) last += 1
        if (!look) return { fault, ms: null, inPeaceMs: null }
        return { fault, ms: look.at - fault.t1, inPeaceMs: look.at - inOrder[last]!.t1 }
      })
    },
    async stop() {
      isStopping = true
      await watching
      looks.close()
    },
  }
}
