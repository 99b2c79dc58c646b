/**
 * Takes everything out, as a copy or as a move.
 *
 * A copy is one snapshot; nothing is written. A move is one transaction: it locks all tables against writers, waits for those
 * that are under way, puts a trigger on each table that refuses every change, and only then reads. It commits when all that
 * was read has been taken by whoever reads the export. Until then nothing has happened: dying rolls it back. After it nothing
 * happens here any more, and the same export can be taken again and again, under the same id.
 *
 * Before the cut running handlers are waited for, so that no lease is carried to where its worker is not.
 */
import { createHash, randomUUID } from 'node:crypto'
import { EscapementError } from '../errors.js'
import { CARRIED_TABLES } from '../store/carried-tables.js'
import { readSchemaLevels } from '../store/migrate.js'
import { isMoved } from '../store/moved.js'
import {
  closeRows,
  countCarried,
  nextRows,
  openRows,
  readColumns,
  writePlainly,
} from '../store/queries/exporting.js'
import {
  findMove,
  forgetHold,
  freeze,
  listAtWork,
  listLineage,
  lockOut,
  type MoveRow,
  recordMove,
} from '../store/queries/moving.js'
import { readNow } from '../store/queries/schedules.js'
import { isContended } from '../store/refusal.js'
import type { Session, Store } from '../store/store.js'
import { type DurationInput, durationToMs } from '../time/duration.js'
import { VERSION } from '../version.js'
import { checkOptions, EXPORT } from './checked-schedules.js'
import { createDrain, type Drain } from './draining.js'
import {
  EXPORT_DEFAULTS,
  EXPORT_FORMAT,
  type ExportManifest,
  type ExportMode,
  endLine,
  manifestLine,
  rowsLine,
} from './export-format.js'
import { handingOver } from './handing-over.js'
import type { VerbOptions } from './verb.js'

/** What `export` takes. */
export interface ExportOptions extends VerbOptions {
  /**
   * `copy` is a backup: everything here goes on. After `move` nothing fires here any more, and every change is refused.
   * @default 'copy'
   */
  mode?: ExportMode
  /**
   * How long a move waits for handlers that are at work, while none is begun. If some are left it is refused, and everything goes
   * on as before.
   * @default '30s'
   */
  wait?: DurationInput
  /** Gives it up, for as long as it has not ended. */
  signal?: AbortSignal
}

/** How long nobody may take what was read: it holds a transaction, and a move holds up everybody else. */
const PATIENCE_MS = 30_000
/** The server ends a transaction of whose process it has heard nothing for so long. */
const SILENT_MS = 30_000
const CHUNK_CHARACTERS = 256 * 1024
const MOST_CHUNK_ROWS = 512
/** Few: each may be megabytes, however small those before it were. */
const FETCHED_ROWS = 32

export interface ExportParts {
  store: Store
  /** Over connections that may be held for as long as it takes. */
  outer: Store
}

/** Lines, each with its line feed. See `export-format.ts`. */
export function exportAll(
  parts: ExportParts,
  options: ExportOptions = {},
): AsyncGenerator<string, void, void> {
  checkOptions(options, EXPORT)
  const waitMs = durationToMs(options.wait ?? EXPORT_DEFAULTS.wait, 'wait')
  return handingOver<string>(async (give) => {
    const sum = createHash('sha256')
    const write = async (line: string) => {
      sum.update(line)
      await give(line)
    }
    const rows =
      options.mode === 'move'
        ? await moveOut(parts, { ...options, waitMs }, write)
        : await copyOut(parts, options, write)
    await give(endLine(rows, sum.digest('hex')))
  }, PATIENCE_MS)
}

type Write = (line: string) => Promise<void>
type Rows = ExportManifest['rows']

/** Of one that was moved away there is one export only: that of its move. */
function copyOut(
  { outer }: ExportParts,
  { actor = null }: { actor?: string | null },
  write: Write,
): Promise<Rows> {
  const work = async (session: Session) => {
    const move = await findMove(session)
    if (move) return writeAll(session, outer.schema, { ...manifestOf(move), mode: 'move' }, write)
    const takenAt = new Date(await readNow(session))
    const copy = manifestOf({ id: randomUUID(), taken_at: takenAt, taken_by: actor })
    return writeAll(session, outer.schema, { ...copy, mode: 'copy' }, write)
  }
  return outer.database.longTransaction(
    async (tx) => {
      await tx.script('set transaction isolation level repeatable read, read only')
      return work(outer.over(tx))
    },
    { silentMs: SILENT_MS },
  )
}

async function moveOut(
  parts: ExportParts,
  { actor = null, waitMs, signal }: { actor?: string | null; waitMs: number; signal?: AbortSignal },
  write: Write,
): Promise<Rows> {
  if (await findMove(parts.store)) return copyOut(parts, {}, write)
  const drain = createDrain(parts.store, { waitMs, signal })
  try {
    return await cutWhenIdle(parts, drain, { actor, write })
  } catch (error) {
    // It passes by itself where even this fails.
    await drain.end().catch(() => {})
    // Somebody else was first: theirs is the export.
    if (isMoved(error)) return copyOut(parts, {}, write)
    throw error
  }
}

/** A handler was begun between the look and the locks: by a claim that was under way. */
class NotIdle extends Error {}

async function cutWhenIdle(
  { outer }: ExportParts,
  drain: Drain,
  { actor, write }: { actor: string | null; write: Write },
): Promise<Rows> {
  // What was given cannot be taken back: from then on nothing is tried again.
  let hasBegun = false
  const cut = async (session: Session) => {
    await lockOut(session)
    if ((await listAtWork(session, 1)).length > 0) throw new NotIdle()
    await forgetHold(session)
    const move = await recordMove(session, { id: randomUUID(), by: actor })
    await freeze(session)
    hasBegun = true
    return writeAll(session, outer.schema, { ...manifestOf(move), mode: 'move' }, write)
  }
  for (;;) {
    await drain.untilIdle()
    try {
      return await outer.database.longTransaction((tx) => cut(outer.over(tx)), { silentMs: SILENT_MS })
    } catch (error) {
      if (error instanceof NotIdle) continue
      if (hasBegun || !isContended(error)) throw explainRights(error)
      if (!(await drain.again())) throw heldUp(error)
    }
  }
}

type Begun = Omit<ExportManifest, 'mode' | 'lineage' | 'rows' | 'schemaLevel'>

function manifestOf({ id, taken_at, taken_by }: MoveRow): Begun {
  return {
    format: EXPORT_FORMAT,
    exportId: id,
    version: VERSION,
    takenAt: taken_at.toISOString(),
    takenBy: taken_by,
  }
}

async function writeAll(
  session: Session,
  schema: string,
  begun: Begun & { mode: ExportMode },
  write: Write,
): Promise<Rows> {
  const schemaLevel = await expectKnownSchema(session, schema)
  await writePlainly(session)
  const rows = await countCarried(session)
  const manifest: ExportManifest = {
    ...begun,
    schemaLevel,
    lineage: await listLineage(session),
    rows,
  }
  await write(manifestLine(manifest))
  const columns = await readColumns(session, schema)
  for (const table of CARRIED_TABLES) {
    await openRows(session, table, columns.get(table)!)
    for (let isLast = false; !isLast; ) {
      const chunk: string[] = []
      for (let characters = 0; !isLast && characters < CHUNK_CHARACTERS && chunk.length < MOST_CHUNK_ROWS; ) {
        const rows = await nextRows(session, FETCHED_ROWS)
        for (const row of rows) characters += row.length
        chunk.push(...rows)
        isLast = rows.length < FETCHED_ROWS
      }
      if (chunk.length > 0) await write(rowsLine(table, chunk))
    }
    await closeRows(session)
  }
  return rows
}

/** Somebody may have migrated it since this process began: what it does not know of would be left out without a word. */
async function expectKnownSchema(session: Session, schema: string): Promise<number> {
  const { applied, known } = await readSchemaLevels(session, schema)
  if (applied === known) return known
  throw new EscapementError('database_unusable', {
    message:
      `Nothing was exported: the schema "${schema}" has version ${applied}, and this program knows version ${known}. ` +
      'Restart it with the version of Escapement that migrated the database, or export by --database with that one.',
    details: { schema, found: applied, known },
  })
}

function heldUp(cause: unknown): EscapementError {
  return new EscapementError('database_busy', {
    message:
      'Nothing was moved: a transaction that has changed something here is still open, such as one of your own in which a run ' +
      'was enqueued. End it, or wait longer (--wait).',
    cause,
  })
}

function explainRights(error: unknown): unknown {
  if ((error as { code?: unknown }).code !== '42501') return error
  return new EscapementError('database_unusable', {
    message: `Nothing was moved: this database user may not (${(error as Error).message}). Run it as the owner of the tables, who migrated them.`,
    cause: error,
  })
}
