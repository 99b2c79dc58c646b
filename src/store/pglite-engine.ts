import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { EscapementError } from '../errors.js'
import { errorFromFields } from './pglite-errors.js'
import {
  type ErrorFields,
  type FromThread,
  type Reply,
  type Request,
  STARTING,
  type ThreadOptions,
  type ToThread,
} from './pglite-messages.js'

/**
 * The main thread's end of the engine: requests go in order and are answered in order. The thread keeps the
 * process alive only while something is unanswered, so that a script that forgets `close()` still ends; what was
 * committed is on disk by then.
 */
export class PGliteEngine {
  onNotification: (channel: string, payload: string) => void = () => {}
  readonly #thread: Worker
  readonly #unanswered = new Map<number, (reply: Reply) => void>()
  #lastId = STARTING
  #death: ErrorFields | null = null
  #ending = false
  #stopped!: (error: Error) => void

  /** Resolves when the engine has stopped although nobody asked it to. */
  readonly stopped = new Promise<Error>((resolve) => {
    this.#stopped = resolve
  })
  readonly #started: Promise<Reply>
  readonly #exited: Promise<void>

  static async start(options: ThreadOptions): Promise<PGliteEngine> {
    const engine = new PGliteEngine(startThread(options))
    const reply = await engine.#started
    if ('error' in reply) {
      await engine.terminate()
      throw errorFromFields(reply.error)
    }
    return engine
  }

  private constructor(thread: Worker) {
    this.#thread = thread
    this.#started = new Promise((resolve) => this.#unanswered.set(STARTING, resolve))
    thread.on('message', (message: FromThread) => this.#receive(message))
    thread.on('error', (error) => this.#die({ message: error.message }))
    this.#exited = new Promise((resolve) => {
      thread.on('exit', (code) => {
        this.#die({ message: `its thread ended with status ${code}` })
        resolve()
      })
    })
  }

  /** Never rejects: the caller throws `errorFromFields`, so that the stack is the caller's. */
  request(request: Request): Promise<Reply> {
    if (this.#death) return Promise.resolve({ error: this.#death })
    const id = ++this.#lastId
    this.#thread.ref()
    return new Promise((resolve) => {
      this.#unanswered.set(id, resolve)
      this.#thread.postMessage({ id, request } satisfies ToThread)
    })
  }

  async terminate(): Promise<void> {
    this.#ending = true
    // The thread may be on its way out already, and then neither keeps the process alive nor answers; whoever awaits
    // this has more to do.
    const keepAlive = setInterval(() => {}, 1_000)
    await Promise.race([this.#thread.terminate(), this.#exited])
    clearInterval(keepAlive)
  }

  #receive(message: FromThread): void {
    if ('notification' in message) {
      this.onNotification(message.notification.channel, message.notification.payload)
    } else if ('failed' in message) {
      this.#die(message.failed)
      void this.#thread.terminate()
    } else if ('reply' in message) {
      this.#answer(message.id, message.reply)
    }
  }

  #answer(id: number, reply: Reply): void {
    const resolve = this.#unanswered.get(id)
    this.#unanswered.delete(id)
    if (this.#unanswered.size === 0) this.#thread.unref()
    resolve?.(reply)
  }

  #die({ message }: ErrorFields): void {
    this.#death ??= {
      message: `The embedded database stopped: ${message}. Open it again; what was committed is kept.`,
      escapement: { code: 'database_unusable', details: {} },
    }
    for (const id of [...this.#unanswered.keys()]) this.#answer(id, { error: this.#death })
    if (!this.#ending) this.#stopped(errorFromFields(this.#death))
  }
}

function startThread(workerData: ThreadOptions): Worker {
  const transferList = workerData.template ? [workerData.template] : []
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./pglite-thread.js', import.meta.url), { workerData, transferList })
  }
  // Run from the sources by a loader that knows TypeScript. A thread starts with Node's own loader, which does not
  // before Node 22, so the thread's first act is to load its file as configuration files are loaded.
  const jiti = JSON.stringify(createRequire(import.meta.url).resolve('jiti'))
  const file = JSON.stringify(new URL('./pglite-thread.ts', import.meta.url).href)
  return new Worker(`require(${jiti}).createJiti(${file}).import(${file})`, {
    eval: true,
    workerData,
    transferList,
  })
}

/** The rows of a reply, or its error thrown. */
export function rowsOf(reply: Reply): unknown[] {
  if ('error' in reply) throw errorFromFields(reply.error)
  return 'rows' in reply ? reply.rows : []
}

export function closedError(): EscapementError {
  return new EscapementError('closed', { message: 'The database is closed.' })
}
