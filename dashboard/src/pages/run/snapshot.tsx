import { useQuery } from '@tanstack/react-query'
import type { RunDetails } from '../../api/client.ts'
import { scheduleQuery } from '../../api/queries.ts'
import { Card } from '../../parts/card.tsx'
import { Failure } from '../../parts/failure.tsx'
import { JsonText } from '../../parts/json-text.tsx'
import { ChangedField } from '../../schedules/changed-field.tsx'
import { changedValues } from '../../schedules/changed-values.ts'
import { timingInWords } from '../../schedules/timing-words.ts'

/** What its schedule was when it asked for the run, and in what it is another now. */
export function Snapshot({ details }: { details: RunDetails }) {
  const { snapshot } = details
  if (snapshot === null) return null
  return (
    <Card title="Its schedule at that time" aside={`version ${snapshot.version}`}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2 px-4 py-3">
        <p>{timingInWords(snapshot.timing)}</p>
        <Drift details={details} />
        <details>
          <summary className="w-fit cursor-pointer text-accent text-xs">All of it</summary>
          <div className="mt-1.5">
            <JsonText label="The schedule at that time, as JSON" value={snapshot} />
          </div>
        </details>
      </div>
    </Card>
  )
}

function Drift({ details: { schedule, snapshot, drifted } }: { details: RunDetails }) {
  if (drifted === null) return <p className="text-muted">The schedule is not there any more.</p>
  if (drifted.length === 0) return <p className="text-muted">The schedule is still the same.</p>
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <p className="text-warn">
        Changed since: <span className="font-medium">{drifted.join(', ')}</span>.
      </p>
      {schedule !== null && <Differences name={schedule} snapshot={snapshot} drifted={drifted} />}
    </div>
  )
}

interface DifferencesProps {
  /** As the schedule is called now. */
  name: string
  snapshot: RunDetails['snapshot']
  drifted: readonly string[]
}

/** What those fields held then and hold now; of what the server hides, only that it is another. */
function Differences({ name, snapshot, drifted }: DifferencesProps) {
  const { data: now, error } = useQuery(scheduleQuery(name))
  const values = changedValues(snapshot, now).filter(({ field }) => drifted.includes(field.split('.')[0]!))
  return (
    <>
      <Failure error={error} what="Not known what it is now:" />
      <ul className="grid gap-1 text-xs">
        {values.map((value) => (
          <ChangedField key={value.field} value={value} />
        ))}
      </ul>
    </>
  )
}
