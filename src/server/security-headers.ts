/** Of everything: no other site may frame it, guess at its type, or learn where a person came from. */
const ALWAYS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Of pages: what they load and whom they ask is ours, and nothing is inline. */
export const PAGE_POLICY = policyOf("base-uri 'none'")
/** The dashboard says where its files are: on the same host. */
export const DASHBOARD_POLICY = policyOf("base-uri 'self'")

function policyOf(base: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    base,
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Adds what a response does not say itself. */
export function withSecurityHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(ALWAYS)) {
    if (!response.headers.has(name)) response.headers.set(name, value)
  }
  return response
}
