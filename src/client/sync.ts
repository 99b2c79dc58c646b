import { costOfBounds } from '../schedules/bounds.js'
import type { ScheduleDefinition } from '../schedules/schedule.js'
import { listSchedules } from '../store/queries/schedules.js'
import { inOwnGroup } from './own-group.js'
import { type Declared, declare, putSchedules } from './put.js'
import { deleteLocked } from './removing.js'
import { type VerbOptions, type VerbParts, withLocked } from './verb.js'

/** What `schedules.sync` takes. */
export interface SyncOptions extends VerbOptions {
  /**
   * Whose set it is. Pruning never touches what another source created, or what was put by hand, whether this one
   * declares it too or not.
   * @default 'code'
   */
  source?: string
  /**
   * Delete what an earlier sync of this source created and this one does not declare.
   * @default false
   */
  prune?: boolean
  /**
   * Change nothing, and say what would be: every mistake is found, and every gate asked, as without it.
   * @default false
   */
  dryRun?: boolean
}

export const SYNC_DEFAULTS = { source: 'code', prune: false, dryRun: false } satisfies SyncOptions

export interface SyncReport {
  /** Names that were created or changed. */
  changed: string[]
  deleted: string[]
}

/** Each chunk is one transaction; a sync that was cut off is completed by repeating it. */
const CHUNK = 1_000
/** Plan times that are counted in one transaction. */
const COUNTED_AT_ONCE = 100_000

export async function syncSchedules(
  parts: VerbParts,
  definitions: Readonly<Record<string, ScheduleDefinition>>,
  {
    actor,
    source = SYNC_DEFAULTS.source,
    prune = SYNC_DEFAULTS.prune,
    dryRun = SYNC_DEFAULTS.dryRun,
  }: SyncOptions,
): Promise<SyncReport> {
  const entries = Object.entries(definitions).map(([name, definition]) => ({
    name,
    definition: inOwnGroup(parts, definition),
  }))
  const declared = await declare(parts, entries)
  const changed: string[] = []
  for (const chunk of chunksOf(declared)) {
    const report = await putSchedules(parts, { declared: chunk, action: 'sync', actor, source, dryRun })
    changed.push(...report.changed)
  }
  return {
    changed,
    deleted: prune
      ? await pruneSource(parts, new Set(Object.keys(definitions)), { source, actor, dryRun })
      : [],
  }
}

/** Where a limit ends is found by counting, in the transaction: few with large limits are a chunk. */
function chunksOf(declared: readonly Declared[]): Declared[][] {
  const chunks: Declared[][] = []
  let counted = Number.POSITIVE_INFINITY
  for (const one of declared) {
    if (counted > COUNTED_AT_ONCE || chunks.at(-1)!.length === CHUNK) {
      chunks.push([])
      counted = 0
    }
    chunks.at(-1)!.push(one)
    counted += costOfBounds(one.content)
  }
  return chunks
}

async function pruneSource(
  parts: VerbParts,
  declared: ReadonlySet<string>,
  { source, actor, dryRun }: { source: string; actor: string | undefined; dryRun: boolean },
): Promise<string[]> {
  const deleted: string[] = []
  let after = ''
  for (;;) {
    const own = { source, ...(parts.group !== undefined && { group: parts.group }) }
    const page = await listSchedules(parts.store, own, { after, limit: CHUNK })
    if (page.length === 0) return deleted
    after = page.at(-1)!.name
    const names = page.map(({ name }) => name).filter((name) => !declared.has(name))
    if (names.length === 0) continue
    if (dryRun) {
      deleted.push(...names)
      continue
    }
    await withLocked(parts, names, { action: 'sync', actor }, async (context, rows) => {
      const own = rows.filter((row) => row.source === source)
      await deleteLocked(context, own, 'keep')
      deleted.push(...own.map(({ name }) => name))
    })
  }
}
