/** Runs that users asked for, beside all schedules. */
import type { Entry, VerbEntry } from '../history.js'
import type { Expected } from '../oracle.js'
import type { Report } from './finding.js'
import { groupBy } from './grouping.js'
import type { Ledger, RunRow } from './ledger.js'

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
    if (run.trigger === 'direct' && run.key !== null && !keys.has(run.key))
      report('unexpected', run.id, `a direct run with the key ${run.key} that nobody asked for`)
  }
  checkTogether(verbs, runs, report)
  for (const [key, own] of groupBy(
    runs.filter(({ trigger, key }) => trigger === 'direct' && key !== null),
    (run) => `${run.job} ${run.key}`,
  )) {
    if (own.length > 1) report('doubled', idsOf(own), `${own.length} runs of ${key}`)
  }
}

/** Of runs without keys that were asked for together, all are there or none, each once. */
function checkTogether(verbs: readonly VerbEntry[], runs: readonly RunRow[], report: Report): void {
  const keyless = runs.filter(({ trigger, key }) => trigger === 'direct' && key === null)
  const rows = groupBy(keyless, ({ input }) => String(input))
  for (const { verb, name, inputs, runIds = [], answer } of verbs) {
    if (verb !== 'enqueue many') continue
    const found = inputs!.map((input) => rows.get(input) ?? [])
    for (const input of inputs!) rows.delete(input)
    const there = found.filter((own) => own.length > 0).length
    for (const own of found) {
      if (own.length > 1) report('doubled', idsOf(own), `${own.length} runs of ${name} ${own[0]!.input}`)
      for (const { id, job, input } of own) {
        if (job !== name)
          report('unexpected', id, `${input} was asked for as a run of ${name}, and is one of ${job}`)
      }
    }
    const many = `${inputs!.length} runs of ${name}, ${inputs![0]} and so on`
    if (there > 0 && there < found.length) report('lost', inputs![0]!, `${there} are there of ${many}`)
    if (answer === 'refused' && there > 0)
      report('unexpected', inputs![0]!, `${many} were refused, and are there`)
    if (answer === 'ok' && found.some((own, index) => own.length > 0 && own[0]!.id !== runIds[index]))
      report('unexpected', inputs![0]!, `${many} have other ids than were promised`)
  }
  for (const own of rows.values())
    report('unexpected', idsOf(own), `a direct run of ${own[0]!.job} without a key that nobody asked for`)
}

const idsOf = (runs: readonly RunRow[]) => runs.map(({ id }) => id).join(' ')
