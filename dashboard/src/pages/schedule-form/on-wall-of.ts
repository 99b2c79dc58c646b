import { formatWall } from '../../../../src/time/instant.js'
import { wallAt } from '../../../../src/time/wall-mapping.js'
import { zoneNamed } from '../../../../src/time/zone.js'

const TO_THE_MINUTE = 'yyyy-mm-ddThh:mm'.length

/** Wall time, or an instant with its offset, as an input for date and time takes it: on the wall of a zone. */
export function onWallOf(value: string, zone: string): string {
  const isInstant = /(?:Z|[+-]\d\d:?\d\d)$/i.test(value) && !Number.isNaN(Date.parse(value))
  const wall = isInstant ? formatWall(wallAt(zoneNamed(zone), Date.parse(value))) : value
  return /:\d\d:00$/.test(wall) ? wall.slice(0, TO_THE_MINUTE) : wall
}
