export interface Coalescer<Word> {
  add(words: Iterable<Word>): void
  stop(): void
}

/**
 * Gathers words and gives them on together: soon after the first, and then no more often than every so many milliseconds,
 * however many come.
 */
export function coalesce<Word>(
  flush: (words: ReadonlySet<Word>) => void,
  { soonMs, everyMs }: { soonMs: number; everyMs: number },
): Coalescer<Word> {
  let gathered = new Set<Word>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isResting = false

  function fire() {
    timer = undefined
    if (gathered.size === 0) {
      isResting = false
      return
    }
    const words = gathered
    gathered = new Set()
    isResting = true
    timer = setTimeout(fire, everyMs)
    flush(words)
  }

  return {
    add(words) {
      for (const word of words) gathered.add(word)
      if (timer === undefined && !isResting && gathered.size > 0) timer = setTimeout(fire, soonMs)
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
      isResting = false
      gathered.clear()
    },
  }
}
