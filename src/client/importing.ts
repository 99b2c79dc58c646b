/**
 * Stores an export in a database that holds nothing yet, in one transaction: it is all there, or nothing of it. What the
 * export itself says, of which rows it has and what their hash is, is checked at its end, before the commit.
 */
import { EscapementError } from '../errors.js'
import { newestMigration } from '../store/migrate.js'
import { readColumns } from '../store/queries/exporting.js'
import {
  analyzeAll,
  type Contents,
  clearFew,
  countContents,
  emptyAll,
  endForeignLeases,
  findImported,
  goOnNumbering,
  insertRows,
  lockAll,
  lockExports,
  lockWords,
  recordImport,
  wakeAll,
} from '../store/queries/importing.js'
import { findMove, type MoveRow, thaw } from '../store/queries/moving.js'
import type { Session, Store } from '../store/store.js'
import { VERSION } from '../version.js'
import {
  type ExportManifest,
  type ExportMode,
  type ExportPart,
  type ExportSource,
  readExport,
} from './export-format.js'

export interface ImportReport {
  exportId: string
  mode: ExportMode
  /** When it was taken. */
  takenAt: string
  /** False where this very export was imported before: then nothing was done. */
  isNew: boolean
  /** By table. */
  rows: ExportManifest['rows']
}

/** What `import` takes. */
export interface ImportOptions {
  /** Hears how many rows of a table are stored so far. */
  onProgress?: (progress: { table: string; done: number; total: number }) => void
}

const SILENT_MS = 30_000

export async function importAll(
  outer: Store,
  source: ExportSource,
  { onProgress = () => {} }: ImportOptions = {},
): Promise<ImportReport> {
  const parts = readExport(source)
  try {
    const first = await parts.next()
    const { manifest } = first.value as Extract<ExportPart, { kind: 'manifest' }>
    await expectLevel(manifest)
    const { exportId, mode, takenAt } = manifest
    return await outer.database.longTransaction(
      async (tx) => {
        const session = outer.over(tx)
        const isNew = await makeRoom(session, manifest)
        const rows = isNew
          ? await storeRows(session, outer.schema, { manifest, parts, onProgress })
          : manifest.rows
        if (isNew) await finish(session, outer, manifest)
        return { exportId, mode, takenAt, isNew, rows }
      },
      { silentMs: SILENT_MS },
    )
  } finally {
    await parts.return()
  }
}

async function expectLevel({ schemaLevel, version }: ExportManifest): Promise<void> {
  const own = await newestMigration()
  if (schemaLevel === own) return
  throw new EscapementError('export_invalid', {
    message:
      `The export has schema version ${schemaLevel} (Escapement ${version}), and this is schema version ${own} ` +
      `(Escapement ${VERSION}). Import it with Escapement ${version}, and upgrade then; or upgrade where it was taken, and export again.`,
    details: { found: schemaLevel, known: own },
  })
}

/** False where this export is here already. Else everything is empty, and nobody else can see or change it. */
async function makeRoom(session: Session, manifest: ExportManifest): Promise<boolean> {
  await lockExports(session)
  const away = await findMove(session)
  if (away) {
    expectReturn(manifest, away)
    await lockWords(session)
    await lockAll(session)
    await thaw(session)
    await emptyAll(session)
  } else {
    if (await findImported(session, manifest.exportId)) return false
    expectEmpty(await countContents(session))
    await lockAll(session)
    // Whoever wrote meanwhile was first.
    expectEmpty(await countContents(session))
    await clearFew(session)
  }
  return true
}

/** What was moved away comes back only as what became of it: anything else would take its place without a trace. */
function expectReturn({ exportId, mode, lineage }: ExportManifest, { id, taken_at }: MoveRow): void {
  const since = taken_at.toISOString()
  if (exportId === id) {
    throw new EscapementError('moved', {
      message: `This export was taken from here, at ${since}. To take the move back, if it was imported nowhere: escapement export --undo`,
      details: { exportId },
    })
  }
  if (mode === 'move' && lineage.includes(id)) return
  throw new EscapementError('target_not_empty', {
    message:
      `Everything here was moved away at ${since}, and the export does not come from where it went (it is ` +
      `${mode === 'copy' ? 'a copy' : 'a move from before that, or of something else'}). Import it into an empty database, schema or directory.`,
    details: { movedBy: id },
  })
}

function expectEmpty(contents: Contents): void {
  const found = Object.entries(contents).filter(([, count]) => count > 0)
  if (found.length === 0) return
  const named = found.map(([name, count]) => `${count >= 1000 ? '1,000 or more' : count} ${name}`)
  throw new EscapementError('target_not_empty', {
    message: `There is something here already: ${named.join(', ')}. Import into an empty database, schema or directory.`,
    details: Object.fromEntries(found),
  })
}

async function storeRows(
  session: Session,
  schema: string,
  from: {
    manifest: ExportManifest
    parts: AsyncGenerator<ExportPart>
    onProgress: NonNullable<ImportOptions['onProgress']>
  },
): Promise<ExportManifest['rows']> {
  const { manifest, parts, onProgress } = from
  const columns = await readColumns(session, schema)
  let stored: ExportManifest['rows'] = {}
  let current = { table: '', done: 0 }
  for await (const part of parts) {
    if (part.kind === 'end') stored = part.rows
    if (part.kind !== 'rows') continue
    const { table, count, rows } = part
    await insertRows(session, { table, columns: columns.get(table)! }, rows).catch((error) => {
      throw explainRefusal(error, table)
    })
    current = { table, done: count + (current.table === table ? current.done : 0) }
    onProgress({ ...current, total: manifest.rows[table] ?? current.done })
  }
  return stored
}

/** The database refused what is no JSON, or no such row: it was one when it was exported. */
function explainRefusal(error: unknown, table: string): unknown {
  const { code, message } = error as { code?: unknown; message?: string }
  if (!/^(22|23|42)/.test(String(code))) return error
  return new EscapementError('export_invalid', {
    message: `The export is not as it was made: rows of ${table} cannot be stored (${message}). Nothing was imported. Export again, or copy the file again.`,
    cause: error,
  })
}

async function finish(session: Session, outer: Store, manifest: ExportManifest): Promise<void> {
  const { exportId: id, mode, takenAt, takenBy } = manifest
  await recordImport(session, { id, mode, takenAt, takenBy })
  await endForeignLeases(session)
  await goOnNumbering(session, outer.schema)
  await analyzeAll(session)
  await wakeAll(session, outer)
}
