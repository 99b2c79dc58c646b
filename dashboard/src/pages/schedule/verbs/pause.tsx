import { useState } from 'react'
import { client } from '../../../api/client.ts'
import { ActionDialog } from '../../../parts/action-dialog.tsx'
import { inputStyle } from '../../../parts/field.tsx'
import { Labelled } from '../../../parts/labelled.tsx'
import { ReasonField } from '../../../parts/reason-field.tsx'
import { Terminal } from '../../../parts/terminal.tsx'
import { useCurl } from '../../../parts/use-curl.ts'
import { useNow } from '../../../time/use-now.ts'
import { onWall } from '../../../time/wall.ts'
import { UNTIL_CHOICES, type UntilChoice, untilOf } from '../pause-until.ts'
import { commandOf } from './command.ts'
import { apiPath, RENEWS, refusing, type VerbProps } from './verb.ts'

/** Asks why and until when: whoever finds it paused wants to know. */
export function Pause({ schedule: { name }, tell }: VerbProps) {
  const [typed, setTyped] = useState('')
  const [choice, setChoice] = useState<UntilChoice>('resumed')
  const [date, setDate] = useState('')
  const now = useNow()
  const curl = useCurl()
  const reason = typed.trim()
  const until = untilOf(choice, date, now)
  const body = { ...(reason && { reason }), ...(until && { until }) }
  const flags = { reason: reason || undefined, until: typeof until === 'object' ? until?.in : until }
  return (
    <ActionDialog
      opener="Pause…"
      title={`Pause ${name}`}
      verb="Pause it"
      action={() => client.schedules.pause(name, body)}
      renews={RENEWS}
      onRefused={refusing(tell, 'Pause')}
      isDisabled={until === null}
    >
      <p className="text-muted">
        It plans nothing while it is paused, and its plan times are recorded as paused. Runs that exist go on.
      </p>
      <ReasonField value={typed} onChange={setTyped} placeholder="Their API is down" />
      <Labelled label="Until">
        {(ids) => (
          <select
            {...ids}
            className={inputStyle}
            value={choice}
            onChange={({ target }) => setChoice(target.value as UntilChoice)}
          >
            {Object.entries(UNTIL_CHOICES).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Labelled>
      {choice === 'date' && (
        <Labelled label="It resumes by itself at" help="As on the wall here.">
          {(ids) => (
            <input
              {...ids}
              type="datetime-local"
              className={inputStyle}
              value={date}
              min={onWall(now.toISOString())}
              max="9999-12-31T23:59"
              onChange={({ target }) => setDate(target.value)}
            />
          )}
        </Labelled>
      )}
      <Terminal
        command={commandOf('pause', [name], flags)}
        curl={curl('POST', apiPath(name, '/pause'), body)}
      />
    </ActionDialog>
  )
}
