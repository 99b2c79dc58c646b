import { Card } from '../../parts/card.tsx'
import { CopyCommand } from '../../parts/copy-command.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import { commandLineOf, typescriptOf } from './code.ts'
import type { Fields } from './reading.ts'

export interface CopyAsProps {
  name: string
  /** The whole definition of a new one, or what an edit changes. */
  fields: Fields
  /** That is edited; undefined for a new one. */
  version?: number
}

/** The same from a terminal, and from code. */
export function CopyAs({ name, fields, version }: CopyAsProps) {
  const curl = useCurl()
  const path = `/schedules/${encodeURIComponent(name)}`
  const method = version === undefined ? 'PUT' : 'PATCH'
  // As the form does: what exists is not replaced, and what somebody else has edited is not overwritten.
  const condition = version === undefined ? 'If-None-Match: *' : `If-Match: "${version}"`
  const command = curl(method, path, fields).replace('curl', `curl -H '${condition}'`)
  return (
    <Card title="From a terminal, or from code">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2 p-4">
        <CopyCommand command={commandLineOf(name, fields, version)} />
        <CopyCommand command={command} />
        <CopyCommand command={typescriptOf(name, fields, version)} />
      </div>
    </Card>
  )
}
