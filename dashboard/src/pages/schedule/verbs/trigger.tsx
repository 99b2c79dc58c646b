import { useState } from 'react'
import { Link } from 'wouter'
import { client } from '../../../api/client.ts'
import { ActionDialog } from '../../../parts/action-dialog.tsx'
import { inputStyle } from '../../../parts/field.tsx'
import { Labelled } from '../../../parts/labelled.tsx'
import { Terminal } from '../../../parts/terminal.tsx'
import { useCurl } from '../../../parts/use-curl.ts'
import { readJson } from '../json-field.ts'
import { commandOf } from './command.ts'
import { apiPath, RENEWS, refusing, type VerbProps } from './verb.ts'

/** A run now, with the input of the schedule or with another. */
export function Trigger({ schedule: { name, scopes }, tell }: VerbProps) {
  const [typed, setTyped] = useState('')
  const [scope, setScope] = useState('')
  const curl = useCurl()
  const input = readJson(typed)
  const value = input.mistake === undefined ? input.value : undefined
  const body = { ...(value !== undefined && { input: value }), ...(scope && { scope }) }
  const flags = {
    input: value === undefined ? undefined : JSON.stringify(value),
    scope: scope || undefined,
  }
  async function trigger() {
    const { id } = await client.schedules.trigger(name, body)
    tell({ done: <Asked id={id} /> })
  }
  return (
    <ActionDialog
      opener="Trigger…"
      title={`Trigger ${name}`}
      verb="Run it now"
      action={trigger}
      renews={RENEWS}
      onRefused={refusing(tell, 'Trigger')}
      isDisabled={input.mistake !== undefined}
    >
      <p className="text-muted">Asks for a run now, whatever its timing and state.</p>
      <Labelled
        label="Input"
        mistake={input.mistake}
        help="JSON, instead of the input of the schedule. Leave it empty for that."
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={4}
            spellCheck={false}
            className={`${inputStyle} h-auto! py-1.5 font-mono text-xs`}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        )}
      </Labelled>
      <ScopeField scopes={scopes} value={scope} onChange={setScope} />
      <Terminal
        command={commandOf('trigger', [name], flags)}
        curl={curl('POST', apiPath(name, '/trigger'), body)}
      />
    </ActionDialog>
  )
}

function Asked({ id }: { id: string }) {
  return (
    <>
      A run was asked for:{' '}
      <Link href={`/runs/${id}`} className="font-mono text-xs underline underline-offset-2">
        {id}
      </Link>
    </>
  )
}

interface ScopeFieldProps {
  /** Null where the job gives them: then any can be asked for. */
  scopes: readonly string[] | null
  value: string
  onChange: (scope: string) => void
}

function ScopeField({ scopes, value, onChange }: ScopeFieldProps) {
  if (scopes?.length === 1) return null
  return (
    <Labelled label="Scope" {...(scopes === null && { help: 'Leave it empty for “global”.' })}>
      {(ids) =>
        scopes === null ? (
          <input
            {...ids}
            className={inputStyle}
            maxLength={200}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <select
            {...ids}
            className={inputStyle}
            value={value || scopes[0]}
            onChange={({ target }) => onChange(target.value)}
          >
            {scopes.map((scope) => (
              <option key={scope}>{scope}</option>
            ))}
          </select>
        )
      }
    </Labelled>
  )
}
