export const SCHEMES = ['system', 'light', 'dark'] as const
export type Scheme = (typeof SCHEMES)[number]

const KEY = 'escapement:scheme'

/** Some browsers refuse to keep anything. */
export function keptScheme(): Scheme {
  try {
    const kept = localStorage.getItem(KEY)
    return SCHEMES.find((scheme) => scheme === kept) ?? 'system'
  } catch {
    return 'system'
  }
}

export function keepScheme(scheme: Scheme): void {
  try {
    localStorage.setItem(KEY, scheme)
  } catch {}
}

export function applyScheme(scheme: Scheme): void {
  const { dataset } = document.documentElement
  if (scheme === 'system') delete dataset.scheme
  else dataset.scheme = scheme
}
