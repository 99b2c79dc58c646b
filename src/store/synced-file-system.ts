import * as fs from 'node:fs'
import { NodeFS } from '@electric-sql/pglite/nodefs'

/** What is used of Emscripten's file system over Node's; not part of PGlite's typed surface. */
interface EngineModule {
  NODEFS: {
    stream_ops: { fsync?: (stream: EngineStream) => number }
    realPath(node: unknown): string
    tryFSOperation<T>(operation: () => T): T
  }
}

interface EngineStream {
  /** The descriptor on the host. */
  nfd?: number
  node: unknown
}

/**
 * PGlite's file system on a directory, with the one operation that it lacks: as shipped, its `fsync` does nothing,
 * so that a commit was answered while its log lay in the page cache. It rests on internals of the engine:
 * `test/processes/embedded.test.ts` counts syncs from outside, and the version is pinned.
 */
export class SyncedFileSystem extends NodeFS {
  /**
   * The first sync that failed. The engine turns it into a panic whose exit PGlite swallows, and what the disk then
   * holds is unknown; the thread must end instead of answering.
   */
  failure: unknown = null

  override async init(...args: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...args)
    const addSync = ({ NODEFS }: EngineModule) => {
      NODEFS.stream_ops.fsync = (stream) => {
        NODEFS.tryFSOperation(() => this.#sync(stream.nfd, () => NODEFS.realPath(stream.node)))
        return 0
      }
    }
    const preRun = [...(emscriptenOpts.preRun ?? []), addSync] as NonNullable<typeof emscriptenOpts.preRun>
    return { emscriptenOpts: { ...emscriptenOpts, preRun } }
  }

  #sync(descriptor: number | undefined, path: () => string): void {
    try {
      if (descriptor === undefined) syncPath(path())
      // Data and size, which is all that reading it back needs; times of access may follow later.
      else fs.fdatasyncSync(descriptor)
    } catch (error) {
      this.failure ??= error
      throw error
    }
  }
}

/** Syncs a file, or the entries of a folder. */
export function syncPath(path: string): void {
  const descriptor = fs.openSync(path, 'r')
  try {
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}
