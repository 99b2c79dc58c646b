import { useSearchParams } from 'wouter'
import type { Schedule } from '../../api/client.ts'
import { zoneOf } from '../../schedules/timing-words.ts'
import { isKnownZone } from '../../time/zone-switch.tsx'

/** Whether times are shown as where the schedule is at home; it is in the address, so that it can be sent to somebody. */
export function useZoneChoice({ timing }: Schedule) {
  const [params, setParams] = useSearchParams()
  const zone = zoneOf(timing)
  const isOwn = params.get('zone') === 'own'
  return {
    zone,
    isOwn,
    shown: isOwn && zone !== undefined && isKnownZone(zone) ? zone : undefined,
    change(own: boolean) {
      setParams(
        (old) => {
          const next = new URLSearchParams(old)
          if (own) next.set('zone', 'own')
          else next.delete('zone')
          return next
        },
        { replace: true },
      )
    },
  }
}
