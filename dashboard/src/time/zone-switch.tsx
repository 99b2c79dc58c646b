import { useId } from 'react'

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Whether the browser knows it; the server may know newer ones. */
export function isKnownZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat(undefined, { timeZone: zone })
    return true
  } catch {
    return false
  }
}

export interface ZoneSwitchProps {
  /** That of the schedule. */
  zone: string | undefined
  isOwn: boolean
  onChange: (isOwn: boolean) => void
}

/** Whether times are as on the wall here, or as where the schedule is at home. */
export function ZoneSwitch({ zone, isOwn, onChange }: ZoneSwitchProps) {
  const id = useId()
  if (zone === undefined || zone === HERE || !isKnownZone(zone)) return null
  return (
    <fieldset className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs">
      <legend className="float-left mr-3 text-muted">Times in</legend>
      {[false, true].map((own) => (
        <label key={String(own)} className="flex cursor-pointer items-center gap-1.5">
          <input
            type="radio"
            name={id}
            className="accent-accent"
            checked={isOwn === own}
            onChange={() => onChange(own)}
          />
          {own ? zone : `${HERE} (here)`}
        </label>
      ))}
    </fieldset>
  )
}
