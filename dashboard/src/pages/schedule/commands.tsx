import type { Schedule } from '../../api/client.ts'
import { Card } from '../../parts/card.tsx'
import { CopyCommand } from '../../parts/copy-command.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import { commandOf } from './verbs/command.ts'
import { apiPath } from './verbs/verb.ts'

/** The same from a terminal. Verbs that ask first show theirs where they ask. */
export function Commands({ schedule: { name, state } }: { schedule: Schedule }) {
  const curl = useCurl()
  const canResume = state === 'paused' || state === 'broken'
  return (
    <Card title="From a terminal">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2 p-4">
        <CopyCommand command={commandOf('get', [name])} />
        <CopyCommand command={curl('GET', apiPath(name))} />
        {canResume && (
          <>
            <CopyCommand command={commandOf('resume', [name])} />
            <CopyCommand command={curl('POST', apiPath(name, '/resume'))} />
          </>
        )}
      </div>
    </Card>
  )
}
