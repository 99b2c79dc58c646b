import { inputStyle } from '../../parts/field.tsx'
import { Labelled } from '../../parts/labelled.tsx'
import { isKnownZone } from '../../time/zone-switch.tsx'
import { onWallOf } from './on-wall-of.ts'

export interface WallFieldProps {
  label: string
  /** Wall time in the zone, or an instant with its offset, which stays one until it is changed. */
  value: string
  onChange: (value: string) => void
  zone: string
  help?: string
  mistake?: string | undefined
  className?: string
}

/** A date and time as on the wall of a zone. */
export function WallField({
  label,
  value,
  onChange,
  zone,
  help = '',
  mistake,
  className = '',
}: WallFieldProps) {
  const known = isKnownZone(zone) ? zone : 'UTC'
  return (
    <Labelled label={label} mistake={mistake} help={`In ${known}. ${help}`} className={className}>
      {(ids) => (
        <input
          {...ids}
          type="datetime-local"
          max="9999-12-31T23:59"
          className={inputStyle}
          value={onWallOf(value, known)}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Labelled>
  )
}
