import { useQuery } from '@tanstack/react-query'
import type { Diagnosis } from '../../api/client.ts'
import { doctorQuery } from '../../api/queries.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { CopyCommand } from '../../parts/copy-command.tsx'
import { Loaded } from '../../parts/loaded.tsx'

/** What is wrong besides, with what mends it. */
export function Doctor() {
  const query = useQuery(doctorQuery)
  return (
    <Card
      title="Doctor"
      aside={
        <Button disabled={query.isFetching} onClick={() => void query.refetch()}>
          {query.isFetching ? 'Looking…' : 'Look again'}
        </Button>
      }
    >
      <Loaded query={query}>
        {(diagnosis) => (
          <>
            {diagnosis.findings.length === 0 ? (
              <p className="bg-good-tint px-4 py-2.5 text-good">
                <strong className="font-semibold">Nothing is wrong.</strong>
              </p>
            ) : (
              <ul className="divide-y divide-line">
                {diagnosis.findings.map((finding) => (
                  <Finding key={`${finding.kind} ${finding.subject} ${finding.detail}`} finding={finding} />
                ))}
              </ul>
            )}
            <p className="border-line border-t px-4 py-2.5 text-muted text-xs">{factsOf(diagnosis)}</p>
          </>
        )}
      </Loaded>
    </Card>
  )
}

function Finding({ finding }: { finding: Diagnosis['findings'][number] }) {
  const { kind, severity, subject, detail, fix, command } = finding
  return (
    <li className="grid gap-1.5 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={severity === 'problem' ? 'bad' : 'warn'}>{severity}</Badge>
        <h3 className="font-medium">{kind.replaceAll('_', ' ')}</h3>
        <span className="min-w-0 break-words text-muted">{subject}</span>
      </div>
      <p className="break-words">{detail}</p>
      <p className="break-words text-muted">{fix}</p>
      {command !== null && <CopyCommand command={command} />}
    </li>
  )
}

/** What it was found with. */
function factsOf({ version, database, schema, zoneData, clockSkewMs, notificationMs }: Diagnosis): string {
  return [
    `escapement ${version}`,
    `${database.kind} ${database.version}`,
    `schema ${schema.name} ${schema.level}`,
    `time zone data ${zoneData}`,
    `clocks ${Math.abs(clockSkewMs)} ms apart`,
    ...(notificationMs === null ? [] : [`notifications ${notificationMs} ms`]),
  ].join(' · ')
}
