import { useQuery } from '@tanstack/react-query'
import { basePath, type Run } from '../../api/client.ts'
import { sessionQuery } from '../../api/queries.ts'
import { Card } from '../../parts/card.tsx'
import { CopyCommand } from '../../parts/copy-command.tsx'
import { quoted } from '../../parts/quoted.ts'
import { isOpen } from '../../runs/standing.ts'

/** The same from a terminal: by the command line, and by curl. */
export function Commands({ run }: { run: Run }) {
  const isLocal = useQuery(sessionQuery).data?.via === 'local'
  const verb = run.state === 'failed' ? 'retry' : isOpen(run) ? 'cancel' : undefined
  const url = `${location.origin}${basePath}/api/v1/runs/${run.id}`
  const token = isLocal ? '' : ' -H "Authorization: Bearer $ESCAPEMENT_TOKEN"'
  return (
    <Card title="From a terminal">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2 p-4">
        <CopyCommand command={`escapement runs get ${run.id}`} />
        <CopyCommand command={`curl${token} ${quoted(url)}`} />
        {verb !== undefined && (
          <>
            <CopyCommand command={`escapement runs ${verb} ${run.id}`} />
            <CopyCommand command={`curl -X POST${token} ${quoted(`${url}/${verb}`)}`} />
          </>
        )}
      </div>
    </Card>
  )
}
