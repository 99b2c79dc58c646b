import { EscapementError } from '../errors.js'
import { listNames } from '../store/queries/schedules.js'
import type { ScheduleRow } from '../store/rows.js'
import type { Session } from '../store/store.js'
import { didYouMean } from '../time/did-you-mean.js'

const NAMES_FOR_HINT = 1_000

/** In a group, one of another group is as if there were none: nothing here may tell them apart. */
export async function scheduleNotFound(
  session: Session,
  name: string,
  group?: string,
): Promise<EscapementError> {
  const known = await listNames(session, NAMES_FOR_HINT, group)
  return new EscapementError('schedule_not_found', {
    message: `There is no schedule "${name}"${didYouMean(name, known)}. List them with: escapement schedules list`,
    details: { name },
  })
}

export function scheduleExists(name: string): EscapementError {
  return new EscapementError('schedule_exists', {
    message: `name: there is a schedule "${name}" already; choose another name, or delete that one first`,
    details: { name },
  })
}

/** For those who must not learn more of it. */
export function nameTaken(name: string): EscapementError {
  return new EscapementError('schedule_exists', {
    message: `name: "${name}" is taken; choose another`,
    details: { name },
  })
}

/** What a caller who is limited to a group may do to others: nothing, and it is told no more than that. */
export function forbidden(message: string, group: string): EscapementError {
  return new EscapementError('forbidden', {
    message: `${message}: this access is limited to the group "${group}"`,
    details: { group },
  })
}

/** Refuses to touch a row that is not what the caller has seen. */
export function expectVersion(row: ScheduleRow, expected: number | undefined): void {
  if (expected === undefined || expected === row.version) return
  throw new EscapementError('version_conflict', {
    message: `"${row.name}" is at version ${row.version}, not ${expected}: it was changed in the meantime. Read it again.`,
    details: { name: row.name, version: row.version, expected },
  })
}

export function neverDue(name: string): EscapementError {
  const mistake = { field: 'timing', message: `"${name}" would never run: from now on it has no plan time` }
  return new EscapementError('schedule_invalid', {
    message: `${mistake.field}: ${mistake.message}`,
    details: { name, mistakes: [mistake] },
  })
}

export function versionGone(name: string): EscapementError {
  return new EscapementError('version_conflict', {
    message: `"${name}" was deleted in the meantime. Put it without an expected version to create it anew.`,
    details: { name },
  })
}

export function unlockable(names: readonly string[]): EscapementError {
  return new EscapementError('database_unusable', {
    message: `${names.join(', ')}: there, and yet without a cursor to lock. Call reconcile() to mend it.`,
    details: { names },
  })
}
