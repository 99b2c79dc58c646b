import type { Run } from '../../api/client.ts'
import { Card } from '../../parts/card.tsx'
import { CopyCommand } from '../../parts/copy-command.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import { isOpen } from '../../runs/standing.ts'

/** The same from a terminal: by the command line, and by curl. */
export function Commands({ run }: { run: Run }) {
  const curl = useCurl()
  const verb = run.state === 'failed' ? 'retry' : isOpen(run) ? 'cancel' : undefined
  return (
    <Card title="From a terminal">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2 p-4">
        <CopyCommand command={`escapement runs get ${run.id}`} />
        <CopyCommand command={curl('GET', `/runs/${run.id}`)} />
        {verb !== undefined && (
          <>
            <CopyCommand command={`escapement runs ${verb} ${run.id}`} />
            <CopyCommand command={curl('POST', `/runs/${run.id}/${verb}`)} />
          </>
        )}
      </div>
    </Card>
  )
}
