import { EscapementError } from '../errors.js'
import {
  endHold,
  findMove,
  forgetMove,
  lockOut,
  type MoveRow,
  thaw,
  waitBriefly,
} from '../store/queries/moving.js'
import { isContended } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import type { ExportSource } from './export-format.js'
import { type ExportOptions, type ExportParts, exportAll } from './exporting.js'
import { type ImportOptions, type ImportReport, importAll } from './importing.js'

/** By which everything went to another database. */
export interface Move {
  exportId: string
  movedAt: Date
  movedBy: string | null
}

/** Everything, from one database into another. */
export interface Moving {
  /**
   * Everything, in lines of JSON: write them to a file, or hand them to `import` of another. Begins when the first is asked for;
   * to stop before the end gives a move up.
   */
  export(options?: ExportOptions): AsyncGenerator<string, void, void>
  /**
   * Stores an export here, where nothing may be yet, or what this very export comes from was moved away. All or nothing; the same
   * export again changes nothing. Processes that work here must not run meanwhile.
   */
  import(source: ExportSource, options?: ImportOptions): Promise<ImportReport>
  /**
   * Takes a move back, so that everything goes on here. The copy must not run: both would fire. Returns whether there was a move.
   */
  undoMove(): Promise<boolean>
  /** The move by which everything went away from here; null where it is here. */
  moved(): Promise<Move | null>
}

export function createMoving(parts: ExportParts): Moving {
  const { store, outer } = parts
  return {
    export: (options) => exportAll(parts, options),
    import: (source, options) => importAll(outer, source, options),
    undoMove: () => undoMove(store),
    async moved() {
      const move = await findMove(store)
      return move ? { exportId: move.id, movedAt: move.taken_at, movedBy: move.taken_by } : null
    },
  }
}

async function undoMove(store: Store): Promise<boolean> {
  const undone = store.transaction(async (session) => {
    if (!(await findMove(session))) return false
    await lockOut(session)
    // Whoever waited may find another, or none: it was imported back, or undone and moved again.
    const move = await findMove(session)
    if (!move) return false
    // It waits for readers too, and holds up those who come later.
    await waitBriefly(session)
    await thaw(session)
    await forgetMove(session, move.id)
    return true
  })
  const isUndone = await undone.catch((error) => {
    throw explainUndo(error)
  })
  if (isUndone) await endHold(store)
  return isUndone
}

function explainUndo(error: unknown): unknown {
  if (isContended(error)) {
    return new EscapementError('database_busy', {
      message:
        'The move was not taken back: a transaction that reads or writes here is still open. End it, and try again.',
      cause: error,
    })
  }
  if ((error as { code?: unknown }).code !== '42501') return error
  return new EscapementError('database_unusable', {
    message: `The move was not taken back: this database user may not (${(error as Error).message}). Run it as the owner of the tables, who migrated them.`,
    cause: error,
  })
}

/** In the words of the database itself. */
export async function expectHere(store: Store): Promise<void> {
  const move = await findMove(store)
  if (move) throw awayError(move)
}

function awayError({ id, taken_at, taken_by }: MoveRow): EscapementError {
  const by = taken_by === null ? '' : ` by ${taken_by}`
  return new EscapementError('moved', {
    message:
      `Everything here was moved away at ${taken_at.toISOString()}${by}: nothing fires here any more. Start it where the export was ` +
      'imported. If that is nowhere, import the file (escapement import), export it again (escapement export --move), or take ' +
      'the move back (escapement export --undo).',
    details: { exportId: id, movedAt: taken_at.toISOString(), movedBy: taken_by },
  })
}
