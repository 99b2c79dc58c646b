import { hostNow } from '../clock.js'

/** Tells whoever watches a terminal how far something long has come; to a file or a program it says nothing. */
export interface Progress {
  update(done: number, total?: number): void
  /** Takes the line away. */
  done(): void
}

const REDRAW_MS = 100
const BAR = 24

export function createProgress(label: string, stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) return { update() {}, done() {} }
  const startedAt = hostNow()
  let shown: { done: number; total?: number } = { done: 0 }
  let timer: NodeJS.Timeout | undefined
  const draw = () => {
    const seconds = Math.round((hostNow() - startedAt) / 1000)
    const line = [label, describeProgress(shown.done, shown.total), `${seconds} s`].filter(Boolean).join('  ')
    // The rest of the line is wiped: it may have been longer before.
    stream.write(`\r${line.slice(0, (stream.columns || 80) - 1)}\u001b[K`)
  }
  timer = setInterval(draw, REDRAW_MS)
  timer.unref()
  return {
    update(done, total) {
      shown = total === undefined ? { done } : { done, total }
    },
    done() {
      clearInterval(timer)
      timer = undefined
      stream.write('\r\u001b[K')
    },
  }
}

/** `████████░░░░ 50 % (1,000 of 2,000)`; without a total, how many there are; with none yet, nothing. */
export function describeProgress(done: number, total?: number): string {
  const count = (value: number) => value.toLocaleString('en')
  if (total === undefined || total === 0) return done === 0 ? '' : count(done)
  const share = Math.min(done / total, 1)
  const filled = Math.round(share * BAR)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR - filled)
  return `${bar} ${Math.floor(share * 100)} % (${count(done)} of ${count(total)})`
}

/** Shows a line for as long as the work takes. */
export async function withProgress<T>(label: string, work: (progress: Progress) => Promise<T>): Promise<T> {
  const progress = createProgress(label)
  try {
    return await work(progress)
  } finally {
    progress.done()
  }
}
