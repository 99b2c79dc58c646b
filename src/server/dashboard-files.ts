import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'

/** One file of the dashboard, as it was built: plain, and compressed where that is worth it. */
export interface DashboardFile {
  type: string
  etag: string
  plain: Uint8Array<ArrayBuffer>
  /** By the name of the encoding, the smallest first. */
  encoded: ReadonlyMap<'br' | 'gzip', Uint8Array<ArrayBuffer>>
}

/** By their paths from the folder, with slashes. */
export type DashboardFiles = ReadonlyMap<string, DashboardFile>

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/**
 * All files of the folder, in memory: what is asked for is looked up among them, so that no path leads out of it. Null
 * where there is no dashboard.
 */
export async function readDashboardFiles(folder: URL): Promise<DashboardFiles | null> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const all = new Map<string, Uint8Array<ArrayBuffer>>()
  for (const name of names.map((found) => found.replaceAll('\\', '/'))) {
    if (name.includes('.')) all.set(name, await readFile(new URL(name, folder)))
  }
  const files = new Map<string, DashboardFile>()
  for (const [name, plain] of all) {
    const type = TYPES[name.split('.').at(-1)!]
    if (type === undefined) continue
    const encoded = ENCODINGS.flatMap(([encoding, ending]) => {
      const bytes = all.get(`${name}${ending}`)
      return bytes ? [[encoding, bytes] as const] : []
    })
    files.set(name, { type, etag: etagOf(plain), plain, encoded: new Map(encoded) })
  }
  return files.has('index.html') ? files : null
}

export function etagOf(content: string | Uint8Array): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
}
