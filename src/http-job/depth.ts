/** Deeper than anybody's JSON, and far from what stacks hold. */
export const DEEPEST_JSON = 100

export function isShallow(value: unknown, depth = DEEPEST_JSON): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((item) => isShallow(item, depth - 1))
}
