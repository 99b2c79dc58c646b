import { useId } from 'react'
import { clockTime, dayOf } from '../../time/format.ts'
import { useNow } from '../../time/use-now.ts'
import { isKnownZone } from '../../time/zone-switch.tsx'
import { TextField } from './text-field.tsx'

export const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone
const ZONES = [...new Set([HERE, 'UTC', ...Intl.supportedValuesOf('timeZone')])]

export interface ZoneFieldProps {
  value: string
  onChange: (zone: string) => void
  mistake: string | undefined
}

/** A zone by its name, found by any part of it, with the time there. */
export function ZoneField({ value, onChange, mistake }: ZoneFieldProps) {
  const list = useId()
  const zone = value.trim()
  return (
    <>
      <TextField
        label="Time zone"
        value={value}
        onChange={onChange}
        list={list}
        mistake={mistake}
        help={zone !== '' && isKnownZone(zone) ? <TimeThere zone={zone} /> : 'Such as Europe/Paris, or UTC.'}
      />
      <datalist id={list}>
        {ZONES.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}

function TimeThere({ zone }: { zone: string }) {
  const now = useNow()
  const there = zone === HERE ? 'here' : 'there'
  const isOtherDay = dayOf(now, zone) !== dayOf(now)
  return (
    <>
      It is {clockTime(now, zone)} {there}
      {isOtherDay && `, on ${dayOf(now, zone)}`}.
    </>
  )
}
