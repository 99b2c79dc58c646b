/**
 * An export is lines of JSON:
 *
 *     {"escapement":{"format":1,"exportId":"…","mode":"move","schemaLevel":14,"takenAt":"…","rows":{"schedules":200,…},…}}
 *     {"table":"schedules","count":64,"rows":[{…},…]}
 *     …
 *     {"end":{"rows":{"schedules":200,…},"sha256":"…"}}
 *
 * The hash is of all bytes before the last line. What breaks off in the middle, and can still say so, ends with `failed`
 * instead, which is a code and a message. Empty lines before the first are no part of it. Rows are the database's own JSON, and
 * are only ever read by a database.
 */
import { createHash } from 'node:crypto'
import { type ErrorCode, EscapementError } from '../errors.js'
import { type CarriedTable, isCarried } from '../store/carried-tables.js'

export const EXPORT_FORMAT = 1

/** `copy` leaves everything here as it is; after `move` it is only there where the export is imported. */
export type ExportMode = 'copy' | 'move'

/** Of `ExportOptions`. */
export const EXPORT_DEFAULTS = { mode: 'copy', wait: '30s' } as const

export interface ExportManifest {
  format: number
  exportId: string
  mode: ExportMode
  /** The newest migration of the database that it was taken from: it can be stored where that is the same. */
  schemaLevel: number
  /** Of the program that took it. */
  version: string
  takenAt: string
  takenBy: string | null
  /** The exports that all of it came by, this one too if it is a move. */
  lineage: readonly string[]
  /** By table. */
  rows: Readonly<Partial<Record<CarriedTable, number>>>
}

/** What may be given to an import: an export in pieces of any size. */
export type ExportSource = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>

export type ExportPart = { line: Buffer } & (
  | { kind: 'manifest'; manifest: ExportManifest }
  | { kind: 'rows'; table: CarriedTable; count: number; rows: string }
  | { kind: 'end'; rows: ExportManifest['rows'] }
)

export const manifestLine = (manifest: ExportManifest) => `${JSON.stringify({ escapement: manifest })}\n`

export const rowsLine = (table: CarriedTable, rows: readonly string[]) =>
  `{"table":"${table}","count":${rows.length},"rows":[${rows.join(',')}]}\n`

export const endLine = (rows: ExportManifest['rows'], sha256: string) =>
  `${JSON.stringify({ end: { rows, sha256 } })}\n`

export const failedLine = ({ code, message }: { code: ErrorCode; message: string }) =>
  `${JSON.stringify({ failed: { code, message } })}\n`

const ROWS = /^\{"table":"([a-z_]+)","count":(\d+),"rows":(?=\[)/

/** Its parts in their order: the manifest first, then rows, then the end. Throws for one that was cut off or changed. */
export async function* readExport(source: ExportSource): AsyncGenerator<ExportPart, void, void> {
  const sum = createHash('sha256')
  const counted: Partial<Record<CarriedTable, number>> = {}
  let place: 'first' | 'rows' | 'end' = 'first'
  for await (const line of linesOf(source)) {
    // From a server that had to wait for the first.
    if (place === 'first' && line.byteLength === 1) continue
    const text = line.toString('utf8')
    if (place === 'end') throw changed('there is something after its end')
    if (place === 'first') {
      yield { kind: 'manifest', line, manifest: readManifest(text) }
      place = 'rows'
    } else {
      const rows = ROWS.exec(text)
      if (rows === null) {
        yield { kind: 'end', line, rows: readEnd(text, { sha256: sum.digest('hex'), counted }) }
        place = 'end'
        continue
      }
      const [prefix, table, digits] = rows as unknown as [string, string, string]
      if (!isCarried(table)) throw changed(`it has a table "${table}"`)
      const count = Number(digits)
      counted[table] = (counted[table] ?? 0) + count
      // Without the brace that closes the line.
      yield { kind: 'rows', line, table, count, rows: text.slice(prefix.length, text.lastIndexOf('}')) }
    }
    sum.update(line)
  }
  if (place === 'first') throw invalid('There is nothing in the export.')
  if (place !== 'end') throw invalid('The export was cut off: it has no end. Export again.')
}

const NEWLINE = 0x0a
/** Whatever is longer than this before the first line ends is something else. */
const LONGEST_MANIFEST = 1024 * 1024

/** With their line feeds. Not by `readline`, for which a line also ends where JSON goes on. */
async function* linesOf(source: ExportSource): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let length = 0
  let isFirst = true
  for await (const piece of source) {
    let rest = typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece)
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      yield Buffer.concat([...pieces, rest.subarray(0, end + 1)])
      rest = rest.subarray(end + 1)
      pieces = []
      length = 0
      isFirst = false
    }
    if (rest.byteLength === 0) continue
    pieces.push(rest)
    length += rest.byteLength
    if (isFirst && length > LONGEST_MANIFEST) throw notOne()
  }
  if (isFirst && length > 0) throw notOne()
  if (length > 0) throw invalid('The export was cut off in the middle of a line. Export again.')
}

function readManifest(text: string): ExportManifest {
  const { escapement: manifest, failed } = parsed(text) as { escapement?: ExportManifest; failed?: unknown }
  if (failed !== undefined) throw failure(failed)
  if (typeof manifest !== 'object' || manifest === null) throw notOne()
  if (manifest.format !== EXPORT_FORMAT) {
    throw invalid(
      `The export has format ${manifest.format}, and this program reads format ${EXPORT_FORMAT}: use Escapement ${manifest.version}.`,
    )
  }
  const { exportId, mode, schemaLevel, takenAt, lineage } = manifest
  const isWhole =
    typeof exportId === 'string' &&
    (mode === 'copy' || mode === 'move') &&
    Number.isInteger(schemaLevel) &&
    typeof takenAt === 'string' &&
    Array.isArray(lineage)
  if (!isWhole) throw notOne()
  return manifest
}

function readEnd(
  text: string,
  { sha256, counted }: { sha256: string; counted: Partial<Record<string, number>> },
): ExportManifest['rows'] {
  const { end, failed } = parsed(text) as {
    end?: { sha256?: unknown; rows?: Readonly<Record<string, number>> }
    failed?: unknown
  }
  if (failed !== undefined) throw failure(failed)
  if (typeof end !== 'object' || end === null) throw changed('a line is none of an export')
  if (end.sha256 !== sha256) throw changed('its checksum is another')
  const rows = end.rows ?? {}
  for (const table of new Set([...Object.keys(rows), ...Object.keys(counted)])) {
    if ((counted[table] ?? 0) !== rows[table]) throw changed(`it has not as many rows of ${table} as it says`)
  }
  return rows
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Said below.
  }
  return {}
}

/** What went wrong where it was taken. */
function failure(failed: unknown): EscapementError {
  const { code, message } = failed as { code: ErrorCode; message: string }
  return new EscapementError(code, { message: `The export broke off: ${message}` })
}

function invalid(message: string): EscapementError {
  return new EscapementError('export_invalid', { message })
}

function changed(how: string): EscapementError {
  return invalid(`The export is not as it was made: ${how}. Export again, or copy the file again.`)
}

function notOne(): EscapementError {
  return invalid('This is not an export of Escapement. Make one with: escapement export -o <file>')
}
