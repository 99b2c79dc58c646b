import { Link } from 'wouter'
import { useMay } from '../../../api/may.ts'
import { buttonStyle } from '../../../parts/button.tsx'
import { schedulePath } from '../../../schedules/schedule-path.ts'
import { Backfill } from './backfill.tsx'
import { Delete } from './delete.tsx'
import { Pause } from './pause.tsx'
import { Rename } from './rename.tsx'
import { Resume } from './resume.tsx'
import { Trigger } from './trigger.tsx'
import type { VerbProps } from './verb.ts'

/** What can be done with it in its state, by whoever is logged in. */
export function Verbs(props: VerbProps) {
  const mayOperate = useMay('operator')
  const mayEdit = useMay('admin')
  const { name, state, timing } = props.schedule
  if (!mayOperate) return null
  return (
    <div className="flex flex-wrap gap-2">
      {(state === 'paused' || state === 'broken') && <Resume {...props} />}
      <Trigger {...props} />
      {(state === 'active' || state === 'broken') && <Pause {...props} />}
      {timing.kind !== 'after' && <Backfill {...props} />}
      {mayEdit && (
        <>
          <Link href={schedulePath(name, 'edit')} className={buttonStyle()}>
            Edit…
          </Link>
          <Rename {...props} />
          <Delete {...props} />
        </>
      )}
    </div>
  )
}
