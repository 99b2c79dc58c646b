const OTHER = 'other'

/**
 * Values of one label, at most `limit` of them: each costs whoever stores the metrics, and some names are given by users. The
 * first that come keep their names, and all others share one.
 */
export function createLabels(limit: number): (name: string | null) => string {
  const named = new Set<string>()
  return (name) => {
    if (name === null) return OTHER
    if (!named.has(name)) {
      if (named.size >= limit) return OTHER
      named.add(name)
    }
    return name
  }
}
