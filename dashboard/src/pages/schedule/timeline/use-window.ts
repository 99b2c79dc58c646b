import { useLocation, useSearchParams } from 'wouter'

/** The part of the timeline that is looked at: around now, what was before an instant, or what is from one on. */
export interface Window {
  before?: string
  from?: string
}

/** Anybody can write an address. */
function instantOf(value: string | null): string | undefined {
  const ms = Date.parse(value ?? '')
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** As it is in the address. */
export function useWindow(): { window: Window; hrefOf: (window: Window) => string } {
  const [path] = useLocation()
  const [params] = useSearchParams()
  const [before, from] = [instantOf(params.get('before')), instantOf(params.get('from'))]
  return {
    window: before !== undefined ? { before } : from !== undefined ? { from } : {},
    hrefOf(window) {
      const search = new URLSearchParams(params)
      search.delete('before')
      search.delete('from')
      for (const [name, value] of Object.entries(window)) search.set(name, value)
      return search.size === 0 ? path : `${path}?${search}`
    },
  }
}
