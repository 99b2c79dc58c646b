import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { DATE, INT8, keepText, parseInt8, parseTimestamptz, TIMESTAMP, TIMESTAMPTZ } from './column-types.js'
import type { SyncedFileSystem } from './synced-file-system.js'

const SETTINGS = {
  search_path: 'public',
  exit_on_error: 'false',
  log_checkpoints: 'false',
  // There is one process: what would be done by others must not be waited for.
  max_worker_processes: '0',
  max_parallel_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  io_method: 'sync',
  datestyle: 'ISO, YMD',
  fsync: 'on',
  // The only method that reaches the file system: `fdatasync` and `open_datasync` do nothing in the engine.
  wal_sync_method: 'fsync',
  // The memory of a WebAssembly module never shrinks; the host's page cache does the rest.
  shared_buffers: '8MB',
  wal_buffers: '256kB',
  max_connections: '5',
  work_mem: '4MB',
  maintenance_work_mem: '16MB',
}

function startParams(): string[] {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['--single', '-O', '-j', ...settings]
}

/**
 * Starts the engine on a folder or in memory. When it cannot start it rejects with the engine's own reason; when it
 * aborts later, `onAbort` is called while PGlite calls the dead engine over and over and never returns.
 */
export async function startPGlite(
  files: SyncedFileSystem | null,
  template: ArrayBuffer | null,
  onAbort: (reason: Error) => void,
): Promise<PGlite> {
  // PGlite's errors say nothing about the cause; the engine writes it to its standard error.
  let lastWords = ''
  const options: PGliteOptions = {
    startParams: startParams(),
    // A segment of 1 MB instead of 16: small folders, and checkpoints that give space back.
    initDbStartParams: ['--wal-segsize=1'],
    parsers: {
      [INT8]: parseInt8,
      [DATE]: keepText,
      [TIMESTAMP]: keepText,
      [TIMESTAMPTZ]: parseTimestamptz,
    },
    onStderr: (line) => {
      lastWords = /\b(?:FATAL|PANIC): +(.*)/.exec(line)?.[1] ?? lastWords
      return false
    },
  }
  if (files) options.fs = files
  if (template) options.loadDataDir = new Blob([template])
  try {
    const engine = await PGlite.create(options)
    const hooks = engine.Module as { onAbort?: () => void }
    hooks.onAbort = () => onAbort(new Error(lastWords || 'the engine aborted'))
    return engine
  } catch (error) {
    throw lastWords ? new Error(lastWords, { cause: error }) : error
  }
}
