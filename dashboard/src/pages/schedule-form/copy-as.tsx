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
  return (
    <Card title="The same elsewhere">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2 p-4">
        <CopyCommand command={commandLineOf(name, fields, version)} />
        <CopyCommand command={curl(version === undefined ? 'PUT' : 'PATCH', path, fields)} />
        <CopyCommand command={typescriptOf(name, fields, version)} />
      </div>
    </Card>
  )
}
