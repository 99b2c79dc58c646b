import { useId, useState } from 'react'
import { useLocation } from 'wouter'
import { client } from '../../../api/client.ts'
import { ActionDialog } from '../../../parts/action-dialog.tsx'
import { inputStyle } from '../../../parts/field.tsx'
import { Labelled } from '../../../parts/labelled.tsx'
import { Terminal } from '../../../parts/terminal.tsx'
import { useCurl } from '../../../parts/use-curl.ts'
import { commandOf } from './command.ts'
import { apiPath, RENEWS, refusing, type VerbProps } from './verb.ts'

const CHOICES = {
  keep: 'Keep its runs, as history',
  delete: 'Delete its runs too, and all that is known of it',
}

/** For good: its name must be typed. Leads to the list. */
export function Delete({ schedule: { name }, tell }: VerbProps) {
  const [runs, setRuns] = useState<keyof typeof CHOICES>('keep')
  const [typed, setTyped] = useState('')
  const [, navigate] = useLocation()
  const id = useId()
  const curl = useCurl()
  async function remove() {
    await client.schedules.delete(name, { runs })
    navigate('/schedules')
  }
  return (
    <ActionDialog
      opener="Delete…"
      title={`Delete ${name}`}
      verb="Delete it"
      kind="danger"
      action={remove}
      renews={RENEWS}
      onRefused={refusing(tell, 'Delete')}
      onOpen={() => setTyped('')}
      isDisabled={typed !== name}
    >
      <p className="text-muted">It cannot be taken back. To stop it for a while, pause it.</p>
      <fieldset className="grid gap-1.5">
        <legend className="mb-1 font-medium">Its runs</legend>
        {Object.entries(CHOICES).map(([value, words]) => (
          <label key={value} className="flex cursor-pointer items-baseline gap-2">
            <input
              type="radio"
              name={id}
              className="accent-accent"
              checked={runs === value}
              onChange={() => setRuns(value as keyof typeof CHOICES)}
            />
            {words}
          </label>
        ))}
      </fieldset>
      <Labelled label="Type its name" help={<span className="[overflow-wrap:anywhere]">{name}</span>}>
        {(ids) => (
          <input
            {...ids}
            className={inputStyle}
            spellCheck={false}
            autoComplete="off"
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        )}
      </Labelled>
      <Terminal
        command={commandOf('delete', [name], { runs: runs === 'keep' ? undefined : runs })}
        curl={curl('DELETE', apiPath(name, runs === 'keep' ? '' : `?runs=${runs}`))}
      />
    </ActionDialog>
  )
}
