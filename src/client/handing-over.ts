import { EscapementError } from '../errors.js'

/**
 * What `produce` gives, one item at a time: `give` resolves once the item was taken and the next one is asked for, so that
 * whoever gives knows that it was received. It rejects when nobody takes it any more: the taker has gone, or has not come back
 * for `patienceMs`. Whoever holds locks meanwhile then lets go of them.
 */
export async function* handingOver<T>(
  produce: (give: (item: T) => Promise<void>) => Promise<void>,
  patienceMs: number,
): AsyncGenerator<T, void, void> {
  let offer: { item: T; resolve(): void; reject(reason: unknown): void } | undefined
  let isAbandoned = false
  let isOver = false
  let wake = () => {}

  const give = (item: T) =>
    new Promise<void>((resolve, reject) => {
      if (isAbandoned) return reject(abandoned())
      offer = { item, resolve, reject }
      wake()
    })
  const producing = produce(give).finally(() => {
    isOver = true
    wake()
  })
  // Whoever asks for the next item hears of it.
  producing.catch(() => {})
  try {
    for (;;) {
      if (offer !== undefined) {
        const { item, resolve, reject } = offer
        const impatience = setTimeout(() => reject(stalled(patienceMs)), patienceMs)
        try {
          yield item
        } finally {
          clearTimeout(impatience)
        }
        offer = undefined
        resolve()
      } else if (isOver) return await producing
      else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    isAbandoned = true
    offer?.reject(abandoned())
    // Nothing of it is left under way.
    await producing.catch(() => {})
  }
}

function abandoned(): EscapementError {
  return new EscapementError('cancelled', { message: 'The export was given up by whoever was reading it.' })
}

function stalled(patienceMs: number): EscapementError {
  return new EscapementError('timed_out', {
    message: `The export was given up: for ${patienceMs / 1000} s nobody took what was read.`,
  })
}
