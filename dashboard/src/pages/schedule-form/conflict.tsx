import type { Schedule } from '../../api/client.ts'
import { Button } from '../../parts/button.tsx'
import { FieldChanges } from './field-changes.tsx'
import { formOf } from './form-state.ts'
import { type Fields, patchOf } from './reading.ts'

export interface ConflictProps {
  base: Schedule
  theirs: Schedule
  /** Mine. */
  patch: Fields
  onGoOn: () => void
  onTakeTheirs: () => void
}

/** Somebody else has edited it since it was read here: what they have changed, and how to go on. */
export function Conflict({ base, theirs, patch, onGoOn, onTakeTheirs }: ConflictProps) {
  const changed = Object.keys(patchOf(formOf(theirs), formOf(base)))
  const both = changed.filter((field) => field in patch)
  return (
    <div role="alert" className="grid gap-3 rounded-lg border border-warn/40 bg-warn-tint px-4 py-3">
      <p>
        <strong className="font-semibold text-warn">Somebody else has edited it meanwhile.</strong> It is at
        version {theirs.version} now; what you see here began with version {base.version}. They have changed:
      </p>
      <FieldChanges
        changes={changed.map((field) => ({
          field,
          before: base[field as keyof Schedule],
          after: theirs[field as keyof Schedule],
        }))}
      />
      {both.length > 0 && (
        <p>You have changed {both.join(', ')} too: if you go on, yours will take the place of theirs.</p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button kind="main" onClick={onGoOn}>
          Go on with theirs, and my changes on it
        </Button>
        <Button onClick={onTakeTheirs}>Drop my changes</Button>
      </div>
    </div>
  )
}
