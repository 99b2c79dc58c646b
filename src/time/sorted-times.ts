/** Small sets of times, in seconds, ascending, none twice. */

export function combinations(
  hours: readonly number[],
  minutes: readonly number[],
  seconds: readonly number[],
): number[] {
  const times = new Set<number>()
  for (const hour of hours) {
    for (const minute of minutes) for (const second of seconds) times.add(hour * 3600 + minute * 60 + second)
  }
  return [...times].sort((a, b) => a - b)
}

/** Positions counted from 1, or negative from the end, as indexes into a set of that size. */
export function positions(wanted: readonly number[], size: number): number[] {
  const indexes = wanted.map((position) => (position > 0 ? position - 1 : size + position))
  return [...new Set(indexes.filter((index) => index >= 0 && index < size))].sort((a, b) => a - b)
}

/** The first of the times that is not below `least`. */
export function atOrAfterIn(times: readonly number[], least: number): number | undefined {
  return times[countBelow(times, least)]
}

/** The last of the times that is not above `most`. */
export function atOrBeforeIn(times: readonly number[], most: number): number | undefined {
  return times[countBelow(times, most + 1) - 1]
}

function countBelow(times: readonly number[], value: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (times[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
