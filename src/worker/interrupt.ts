/**
 * What ends a handler before its time: told once, with the reason. The `AbortSignal` that a handler can listen to is made
 * when one asks for it: most are over before they would.
 */
export class Interrupt {
  #reason: Error | undefined
  #controller: AbortController | undefined
  #reject: ((reason: Error) => void) | undefined

  get reason(): Error | undefined {
    return this.#reason
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  abort(reason: Error): void {
    if (this.#reason) return
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#reject?.(reason)
  }

  /** Settles as `work` does, or rejects with the reason as soon as there is one. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#reason) reject(this.#reason)
      this.#reject = reject
      work.then(resolve, reject)
    })
  }
}
