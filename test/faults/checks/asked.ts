/** Runs that users asked for, beside all schedules. */
import type { Entry, VerbEntry } from '../history.js'
import type { Expected } from '../oracle.js'
import type { Report } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger } from './ledger.js'

/** Each run that was promised is there, and none that nobody asked for. */
export function checkAskedRuns(
  all: readonly Expected[],
  entries: readonly Entry[],
  { runs, names }: Ledger,
  report: Report,
): void {
  const known = new Set(runs.map(({ id }) => id))
  const verbs = entries.filter((entry): entry is VerbEntry => entry.type === 'verb')
  for (const { verb, name, id, runIds = [], answer } of verbs) {
    if (answer !== 'ok') continue
    for (const promised of id === undefined ? runIds : [id, ...runIds]) {
      if (!known.has(promised))
        report('lost', promised, `${verb} ${name} promised this run, and there is none`)
    }
  }
  const promised = new Set(all.flatMap((expected) => [...expected.promised]))
  const mayHaveMore = new Set(all.flatMap(({ role, isTriggerOpen }) => (isTriggerOpen ? [role.name] : [])))
  const keys = new Set(verbs.flatMap(({ verb, key }) => (verb === 'enqueue' ? [key!] : [])))
  for (const run of runs) {
    const name = names.get(run.scheduleId ?? '') ?? ''
    if (run.trigger === 'manual' && !promised.has(run.id) && !mayHaveMore.has(name))
      report('unexpected', run.id, `a manual run of ${name} that nobody asked for`)
    if (run.trigger === 'direct' && !keys.has(run.key ?? ''))
      report('unexpected', run.id, `a direct run with the key ${run.key} that nobody asked for`)
  }
  for (const [key, own] of groupBy(
    runs.filter(({ trigger }) => trigger === 'direct'),
    (run) => `${run.job} ${run.key}`,
  )) {
    if (own.length > 1) report('doubled', own.map(({ id }) => id).join(' '), `${own.length} runs of ${key}`)
  }
}
