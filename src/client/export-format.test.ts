import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  EXPORT_FORMAT,
  type ExportManifest,
  type ExportSource,
  endLine,
  failedLine,
  manifestLine,
  readExport,
  rowsLine,
} from './export-format.js'

const manifest: ExportManifest = {
  format: EXPORT_FORMAT,
  exportId: '0199d2c4-3f6b-4c0e-9d53-5f0c6c1b7a11',
  mode: 'copy',
  schemaLevel: 14,
  version: '7.1.0',
  takenAt: '2026-03-01T12:00:00.000Z',
  takenBy: null,
  lineage: [],
  rows: { schedules: 3, jobs: 1 },
}
const before =
  manifestLine(manifest) +
  rowsLine('schedules', ['{"id":1,"name":"a\u2028b"}', '{"id":2}']) +
  rowsLine('schedules', ['{"id":3}']) +
  rowsLine('jobs', ['{"name":"}"}'])
const text = before + endLine(manifest.rows, createHash('sha256').update(before).digest('hex'))

async function read(source: ExportSource) {
  const parts: unknown[] = []
  for await (const { line: _, ...part } of readExport(source)) parts.push(part)
  return parts
}

const refusal = (source: ExportSource) =>
  read(source).then(
    () => 'none',
    (error) => `${error.code}: ${error.message}`,
  )

describe('an export', () => {
  it('is read as it was written, in pieces of any size, and its rows are left as they are', async () => {
    const bytes = Buffer.from(text)
    const pieces = (size: number) =>
      Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      )
    const whole = await read([text])
    expect(whole).toEqual([
      { kind: 'manifest', manifest },
      { kind: 'rows', table: 'schedules', count: 2, rows: '[{"id":1,"name":"a\u2028b"},{"id":2}]' },
      { kind: 'rows', table: 'schedules', count: 1, rows: '[{"id":3}]' },
      { kind: 'rows', table: 'jobs', count: 1, rows: '[{"name":"}"}]' },
      { kind: 'end', rows: manifest.rows },
    ])
    for (const size of [1, 7, 1_000_000]) expect(await read(pieces(size))).toEqual(whole)
    expect(await read(['\n\n', text])).toEqual(whole)
  })

  it('is refused wherever it was cut off', async () => {
    for (let at = 0; at < text.length; at++)
      expect(await refusal([text.slice(0, at)])).toMatch(/^export_invalid: /)
    expect(await refusal([before])).toBe(
      'export_invalid: The export was cut off: it has no end. Export again.',
    )
  })

  it('is refused whichever byte was changed', async () => {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      expect(await refusal([changed]), `byte ${at}`).toMatch(/^export_invalid: /)
    }
  })

  it('is refused where lines are missing, or follow its end', async () => {
    expect(await refusal([text.replace(/\n.*"table":"jobs".*\n/, '\n')])).toMatch(
      /not as it was made: its checksum/,
    )
    expect(await refusal([`${text}{}\n`])).toMatch(/not as it was made: there is something after its end/)
    expect(await refusal([text.replace('"table":"jobs"', '"table":"bobs"')])).toMatch(/it has a table "bobs"/)
  })

  it('says what else it is, which version it needs, and what went wrong where it was taken', async () => {
    expect(await refusal(['hello\n'])).toMatch(/This is not an export of Escapement/)
    expect(await refusal(['x'.repeat(2_000_000)])).toMatch(/This is not an export of Escapement/)
    expect(await refusal([])).toMatch(/There is nothing in the export/)
    expect(await refusal([text.replace('"format":1', '"format":2')])).toMatch(
      /format 2.*use Escapement 7\.1\.0/,
    )
    const failed = failedLine({ code: 'timed_out', message: 'nobody took it' })
    expect(await refusal([before + failed])).toBe('timed_out: The export broke off: nobody took it')
  })
})
