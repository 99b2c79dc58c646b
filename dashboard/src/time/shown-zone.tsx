import { createContext, type ReactNode, useContext } from 'react'

const ShownZoneContext = createContext<string | undefined>(undefined)

/** The zone in which times are shown around here; undefined for the browser's own. */
export const useShownZone = () => useContext(ShownZoneContext)

/** Shows the times in it in a zone, instead of the browser's. */
export function ShownZone({ zone, children }: { zone: string | undefined; children: ReactNode }) {
  return <ShownZoneContext value={zone}>{children}</ShownZoneContext>
}
