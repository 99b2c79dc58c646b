import { useMay } from '../../api/may.ts'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'

const ENQUEUE = `escapement runs enqueue http --input '{"url":"https://example.com"}' --wait`

export function NoRuns({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const mayEnqueue = useMay('operator')
  if (isFiltered) {
    return (
      <Empty title="No run is like that.">
        <p className="mb-3">Job, queue and schedule must be exact.</p>
        <Button onClick={onClear}>Clear the filter</Button>
      </Empty>
    )
  }
  if (!mayEnqueue) {
    return <Empty title="No runs yet.">A schedule asks for one when it is due.</Empty>
  }
  return (
    <Empty title="No runs yet." command={ENQUEUE}>
      A schedule asks for one when it is due. Without a schedule, ask for one from a terminal:
    </Empty>
  )
}
