import fs from 'node:fs'
import type { Database } from '../../src/store/database.js'

export interface Witnessed {
  runId: string
  starts: number[]
  ends: number[]
}

/** What handlers left in their files, by run: the numbers of the attempts that began and that came to their end. */
export function readWitnesses(files: readonly string[]): Map<string, Witnessed> {
  const found = new Map<string, Witnessed>()
  for (const file of files.filter((name) => fs.existsSync(name))) {
    for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
      const [what, runId, attempt] = line.split(' ')
      // Killed in the middle of a line, a process leaves half of one.
      if (attempt === undefined || attempt === '') continue
      const own = found.get(runId!) ?? { runId: runId!, starts: [], ends: [] }
      found.set(runId!, own)
      own[what === 'start' ? 'starts' : 'ends'].push(Number(attempt))
    }
  }
  return found
}

/**
 * The checker: compares what was witnessed with what the database says. Every run has ended as it says, no attempt began
 * twice, nothing succeeded that did not come to its end, and nothing began that the database knows nothing of.
 */
export async function checkWitnesses(
  database: Database,
  schema: string,
  witnesses: ReadonlyMap<string, Witnessed>,
): Promise<string[]> {
  const runs = await database.query<{ id: string; state: string; attempt: number }>(
    `select id, state, attempt from "${schema}".runs`,
  )
  const known = new Map(runs.map((run) => [run.id, run]))
  const findings: string[] = []
  for (const { runId, starts } of witnesses.values()) {
    const run = known.get(runId)
    if (!run) findings.push(`${runId}: began and is no run`)
    if (new Set(starts).size < starts.length) findings.push(`${runId}: an attempt began twice (${starts})`)
    if (run && Math.max(...starts) > run.attempt) findings.push(`${runId}: began more often than it says`)
  }
  for (const { id, state, attempt } of runs) {
    const seen = witnesses.get(id)
    if (state === 'succeeded' && !seen?.ends.includes(attempt)) {
      findings.push(`${id}: succeeded at attempt ${attempt}, which did not come to its end`)
    }
    if (!['succeeded', 'failed', 'cancelled', 'skipped'].includes(state)) findings.push(`${id}: ${state}`)
  }
  return findings
}
