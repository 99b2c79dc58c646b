import { Badge } from '../../parts/badge.tsx'
import { Head } from '../../parts/head.tsx'
import { bodyCell, Table } from '../../parts/table.tsx'
import { count } from '../../time/format.ts'
import { MISTAKES, type WholeReport } from './run-audit.ts'

const MOST_SHOWN = 200
const KINDS = [...MISTAKES, 'zoneData'] as const
const WORDS = { missing: 'missing', double: 'double', unexpected: 'unexpected', zoneData: 'zone data' }

/** Green with what was proven, or what was found. */
export function AuditResult({ report }: { report: WholeReport }) {
  const findings = KINDS.flatMap((kind) => report[kind].map((finding) => ({ kind, ...finding })))
  const explained = report.zoneData.length
  const mistakes = findings.length - explained
  const shown = findings.slice(0, MOST_SHOWN)
  return (
    <div className="border-line border-t">
      <p
        role="status"
        className={`px-4 py-2.5 ${mistakes > 0 ? 'bg-bad-tint text-bad' : 'bg-good-tint text-good'}`}
      >
        <strong className="font-semibold">
          {mistakes > 0 ? `${count(mistakes)} found.` : explained > 0 ? 'No mistake found.' : 'All is right.'}
        </strong>{' '}
        {many(report.occurrences, 'occurrence')} of {many(report.schedules, 'schedule')}
        {findings.length === 0 ? ': each has one answer.' : '.'}
      </p>
      {explained > 0 && (
        <p className="bg-warn-tint px-4 py-2.5 text-warn">
          {count(explained)} differ where other time zone data computed the plan times: no mistakes, not
          proven either.
        </p>
      )}
      {shown.length > 0 && (
        <Table label="What was found">
          <Head columns={['Finding', 'Schedule', 'Scope', 'Plan time', 'Detail']} />
          <tbody>
            {shown.map(({ kind, schedule, scope, planTime, detail }) => (
              <tr key={`${kind} ${schedule} ${scope} ${planTime} ${detail}`}>
                <td className={bodyCell}>
                  <Badge tone={kind === 'zoneData' ? 'warn' : 'bad'}>{WORDS[kind]}</Badge>
                </td>
                <th scope="row" className={`${bodyCell} font-medium`}>
                  {schedule}
                </th>
                <td className={bodyCell}>{scope}</td>
                <td className={`${bodyCell} whitespace-nowrap tabular-nums`}>{planTime}</td>
                <td className={`${bodyCell} min-w-60`}>{detail}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {findings.length > shown.length && (
        <p className="border-line border-t px-4 py-2 text-muted">
          … and {count(findings.length - shown.length)} more; <code>escapement audit --json</code> has all.
        </p>
      )}
    </div>
  )
}

const many = (number: number, noun: string) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`
