import type { OrdealReport } from './judging.js'

const secondsOf = (ms: number) => `${(ms / 1000).toFixed(1)} s`

/** All that a run has shown, and each finding with where to look. */
export function tableOf(report: OrdealReport, { seed, folder }: { seed: number; folder: string }): string {
  const { counts, faults, verbs, occurrences, starts, witnesses, findings, longestRecovery } = report
  const found = (kind: string) => findings.filter((finding) => finding.kind === kind).length
  const lines: [string, string | number][] = [
    ...[...faults]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([kind, count]): [string, number] => [`  ${kind}`, count]),
    ...[...report.points].map(([point, count]): [string, number] => [`    as it ${point}`, count]),
    ...[...report.notRun].map(([kind, why]): [string, string] => [`  ${kind}`, `not run: ${why}`]),
  ]
  const asked = [...verbs].map(([verb, { ok, refused, unknown }]): [string, string] => [
    `  ${verb}`,
    `${ok} done, ${refused} refused, ${unknown} unheard`,
  ])
  const outcome: [string, string | number][] = [
    ['occurrences expected', occurrences.expected],
    ['runs of occurrences', occurrences.runs],
    ['skips with a legal reason', occurrences.skipped],
    ['occurrences of DST days', report.dstOccurrences],
    ['handlers started', witnesses.executions],
    ['  behind PgBouncer', report.pooled.executions],
    ['processes started', counts.starts],
    ['  behind PgBouncer', report.pooled.starts],
    ['transitions', report.transitions],
    ['counted in a transaction', report.counted],
    ['links of after chains', report.chained],
    ['runs that may not overlap', report.laned],
    ['runs of a job with two places', report.limited],
    ['breaks of schedules', report.breaks],
    ['attempts that failed', report.failedAttempts],
    ['lost', found('lost')],
    ['doubled', found('doubled')],
    ['unexpected', found('unexpected')],
    ['early', found('early')],
    ['ended as they may not', found('outcome') + found('overlap')],
    ['stale completions refused', witnesses.staleRefused],
    ['stale failures refused', witnesses.staleFailuresRefused],
    ['stale completions that counted', found('stale')],
    ['longest lateness', secondsOf(occurrences.longestLateMs)],
    ['  in peace', `${secondsOf(occurrences.longestInPeaceMs)} (of ${occurrences.inPeace} plan times)`],
    ['longest wait for a handler in peace', `${secondsOf(starts.longestMs)} (of ${starts.inPeace})`],
    ['longest recovery', `${secondsOf(longestRecovery.ms)} (${longestRecovery.kind})`],
    ['longest backlog through several faults', secondsOf(report.longestBacklogMs)],
    ['at rest after', secondsOf(report.settledMs)],
    ['findings', findings.length],
  ]
  const rows = [
    ['SIGKILLs of processes', counts.kills],
    ['SIGKILLs of processes that were starting', counts.earlyKills],
    ['restarts of PostgreSQL', counts.restarts],
    ['faults injected', [...faults.values()].reduce((sum, count) => sum + count, 0)],
    ...lines,
    ['verbs', ''],
    ...asked,
    ...outcome,
  ] as [string, string | number][]
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  const explained = findings
    .slice(0, 100)
    .map(({ kind, about, message }) => `${kind}: ${about}\n    ${message}`)
  return [
    `\nseed ${seed}`,
    ...rows.map(([name, value]) => `${name.padEnd(width)}${value}`),
    ...(findings.length > 0
      ? [
          '',
          ...explained,
          '',
          `Look in ${folder}: history.jsonl, witness-*.jsonl, ledger.json, watch.jsonl, node-*.log`,
        ]
      : []),
    '',
  ].join('\n')
}
