import type { World } from '../world.js'
import type { Report } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger } from './ledger.js'

/** What a transactional handler wrote is there once for each run that succeeded, and for no other. */
export async function checkCounter(
  { query }: Pick<World, 'query'>,
  { runs }: Ledger,
  report: Report,
): Promise<number> {
  const rows = await query<{ run: string; attempt: number }>('select run, attempt from public.tally')
  const written = groupBy(rows, ({ run }) => run)
  const succeeded = runs.filter(({ job, state }) => job === 'count' && state === 'succeeded')
  for (const { id, attempt } of succeeded) {
    const own = written.get(id) ?? []
    written.delete(id)
    if (own.length !== 1) report('counter', id, `succeeded, and was counted ${own.length} times`)
    else if (own[0]!.attempt !== attempt)
      report('counter', id, `attempt ${own[0]!.attempt} was counted, and attempt ${attempt} succeeded`)
  }
  for (const id of written.keys()) report('counter', id, 'was counted, and did not succeed')
  return succeeded.length
}
