import { useLocation } from 'wouter'
import { basePath } from '../api/client.ts'

/** Where one schedule is shown, or a view of it. */
export function schedulePath(name: string, view?: 'edit'): string {
  const path = `/schedules/${encodeURIComponent(name)}`
  return view === undefined ? path : `${path}/${view}`
}

/**
 * The name in the address. It is read from the address itself: the router decodes a path as a whole, after which `a/b` and
 * `a%2Fb` are the same.
 */
export function useScheduleName(): string {
  useLocation()
  const [, , segment = ''] = location.pathname.slice(basePath.length).split('/')
  return nameOf(segment)
}

/** Anybody can write an address: one with a `%` that stands for nothing is taken as it is. */
function nameOf(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
