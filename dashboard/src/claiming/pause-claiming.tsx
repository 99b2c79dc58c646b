import { useState } from 'react'
import { client } from '../api/client.ts'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { CopyCommand } from '../parts/copy-command.tsx'
import { quoted } from '../parts/quoted.ts'
import { ReasonField } from '../parts/reason-field.tsx'

/** Asks for a reason first: whoever finds it paused at night wants to know. */
export function PauseClaiming() {
  const [typed, setTyped] = useState('')
  const reason = typed.trim()
  return (
    <ActionDialog
      opener="Pause claiming…"
      title="Pause claiming"
      verb="Pause claiming"
      kind="danger"
      action={() => client.claiming.set({ paused: true, ...(reason && { reason }) })}
      renews={['claiming', 'stats']}
    >
      <p className="text-muted">
        No run is begun any more, in any process, until claiming is resumed. What runs goes on, and plan times
        are still recorded.
      </p>
      <ReasonField value={typed} onChange={setTyped} placeholder="Maintenance of the mail server" />
      <CopyCommand command={`escapement claiming pause${reason && ` --reason ${quoted(reason)}`}`} />
    </ActionDialog>
  )
}
