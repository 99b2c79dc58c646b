import { useState } from 'react'
import { useLocation } from 'wouter'
import { client } from '../../../api/client.ts'
import { ActionDialog } from '../../../parts/action-dialog.tsx'
import { inputStyle } from '../../../parts/field.tsx'
import { Labelled } from '../../../parts/labelled.tsx'
import { Terminal } from '../../../parts/terminal.tsx'
import { useCurl } from '../../../parts/use-curl.ts'
import { schedulePath } from '../../../schedules/schedule-path.ts'
import { commandOf } from './command.ts'
import { apiPath, RENEWS, refusing, type VerbProps } from './verb.ts'

/** Leads to it under its new name. */
export function Rename({ schedule: { name }, tell }: VerbProps) {
  const [typed, setTyped] = useState(name)
  const [, navigate] = useLocation()
  const curl = useCurl()
  const to = typed.trim()
  async function rename() {
    await client.schedules.rename(name, to)
    navigate(schedulePath(to))
  }
  return (
    <ActionDialog
      opener="Rename…"
      title={`Rename ${name}`}
      verb="Rename it"
      action={rename}
      renews={RENEWS}
      onRefused={refusing(tell, 'Rename')}
      isDisabled={to === '' || to === name}
    >
      <p className="text-muted">
        Its id, its runs and its history stay. Code that puts it under its old name makes a new one.
      </p>
      <Labelled label="New name" help="Letters, digits and . _ : -, beginning with a letter or digit.">
        {(ids) => (
          <input
            {...ids}
            className={inputStyle}
            maxLength={200}
            spellCheck={false}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        )}
      </Labelled>
      <Terminal
        command={commandOf('rename', [name, to || 'new-name'])}
        curl={curl('POST', apiPath(name, '/rename'), { to: to || 'new-name' })}
      />
    </ActionDialog>
  )
}
