import { useState } from 'react'
import { client } from '../api/client.ts'
import { ActionDialog } from '../parts/action-dialog.tsx'
import { quoted } from '../parts/quoted.ts'
import { ReasonField } from '../parts/reason-field.tsx'
import { Terminal } from '../parts/terminal.tsx'
import { useCurl } from '../parts/use-curl.ts'

/** Asks for a reason first: whoever finds it paused at night wants to know. */
export function PauseClaiming() {
  const [typed, setTyped] = useState('')
  const reason = typed.trim()
  const body = { paused: true, ...(reason && { reason }) }
  const curl = useCurl()
  return (
    <ActionDialog
      opener="Pause claiming…"
      title="Pause claiming"
      verb="Pause claiming"
      kind="danger"
      action={() => client.claiming.set(body)}
      renews={['claiming', 'stats']}
    >
      <p className="text-muted">
        No run is begun any more, in any process, until claiming is resumed. What runs goes on, and plan times
        are still recorded.
      </p>
      <ReasonField value={typed} onChange={setTyped} placeholder="Maintenance of the mail server" />
      <Terminal
        command={`escapement claiming pause${reason && ` --reason ${quoted(reason)}`}`}
        curl={curl('POST', '/claiming', body)}
      />
    </ActionDialog>
  )
}
