import type { RunDetails } from '../../api/client.ts'
import { Card } from '../../parts/card.tsx'
import { JsonText } from '../../parts/json-text.tsx'
import { timingInWords } from '../../schedules/timing-words.ts'

/** What its schedule was when it asked for the run, and in what it is another now. */
export function Snapshot({ details: { snapshot, drifted } }: { details: RunDetails }) {
  if (snapshot === null) return null
  return (
    <Card title="Its schedule at that time" aside={`version ${snapshot.version}`}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2 px-4 py-3">
        <p>{timingInWords(snapshot.timing)}</p>
        <Drift drifted={drifted} />
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

function Drift({ drifted }: { drifted: RunDetails['drifted'] }) {
  if (drifted === null) return <p className="text-muted">The schedule is not there any more.</p>
  if (drifted.length === 0) return <p className="text-muted">The schedule is still the same.</p>
  return (
    <p className="text-warn">
      Changed since: <span className="font-medium">{drifted.join(', ')}</span>.
    </p>
  )
}
