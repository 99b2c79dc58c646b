import { formatWall } from '../../../../src/time/instant.js'
import { wallAt } from '../../../../src/time/wall-mapping.js'
import { zoneNamed } from '../../../../src/time/zone.js'
import { inputStyle } from '../../parts/field.tsx'
import { Labelled } from '../../parts/labelled.tsx'
import { isKnownZone } from '../../time/zone-switch.tsx'

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

function onWallOf(value: string, zone: string): string {
  const isInstant = /(?:Z|[+-]\d\d:?\d\d)$/i.test(value) && !Number.isNaN(Date.parse(value))
  const wall = isInstant ? formatWall(wallAt(zoneNamed(zone), Date.parse(value))) : value
  return wall.replace(/:00$/, (seconds) => (wall.length > 'yyyy-mm-ddThh:mm'.length ? '' : seconds))
}
