import * as fs from 'node:fs'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { syncFolder } from './sync-to-disk.js'

/** What is used of Emscripten's file system over Node's; not part of PGlite's typed surface. */
interface EngineModule {
  FS: { isDir(mode: number): boolean }
  NODEFS: {
    stream_ops: { fsync?: (stream: EngineStream) => number }
    realPath(node: unknown): string
    tryFSOperation<T>(operation: () => T): T
  }
}

interface EngineStream {
  /** The descriptor on the host. */
  nfd: number
  node: { mode: number }
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
    const addSync = ({ FS, NODEFS }: EngineModule) => {
      NODEFS.stream_ops.fsync = ({ nfd, node }) => {
        NODEFS.tryFSOperation(() =>
          this.#rememberFailure(() => {
            if (FS.isDir(node.mode)) syncFolder(NODEFS.realPath(node))
            // Data and size, which is all that reading it back needs; its times may follow later.
            else fs.fdatasyncSync(nfd)
          }),
        )
        return 0
      }
    }
    const preRun = [...(emscriptenOpts.preRun ?? []), addSync] as NonNullable<typeof emscriptenOpts.preRun>
    return { emscriptenOpts: { ...emscriptenOpts, preRun } }
  }

  #rememberFailure(sync: () => void): void {
    try {
      sync()
    } catch (error) {
      this.failure ??= error
      throw error
    }
  }
}
