import { listBroken, listOverdue, listUnplannable } from '../../store/queries/schedule-symptoms.js'
import { countNewerZoneData, type NewerZoneData } from '../../store/queries/zone-data.js'
import type { Session } from '../../store/store.js'
import {
  counted,
  type Diagnosis,
  MOST_COUNTED,
  MOST_TOLD,
  shellWord,
  timeOf,
  told,
  toldOf,
} from '../diagnosis.js'

const BOUNDS = { limit: MOST_TOLD, most: MOST_COUNTED }
const LATE_MS = 60_000

export async function examineUnplannable(session: Session): Promise<Diagnosis[]> {
  return toldOf('unplannable', await listUnplannable(session, BOUNDS), ({ name, error }) => ({
    subject: name,
    detail: error,
    fix: 'put the schedule again with a timing and scopes that work; as it is, it is tried again each minute',
    command: `escapement schedules get ${shellWord(name)}`,
  }))
}

export async function examineOverdue(session: Session): Promise<Diagnosis[]> {
  const overdue = await listOverdue(session, { ...BOUNDS, lateMs: LATE_MS })
  return toldOf('overdue', overdue, ({ name, since, provider }) => ({
    subject: name,
    detail: `due since ${timeOf(since)}, and no scheduler has looked at it${provider === null ? '' : `; job ${provider} gives its scopes`}`,
    fix:
      provider === null
        ? 'start a scheduler, or look into the log of the one that runs'
        : `start a scheduler that has the code of job ${provider}, or look into the log of the one that runs`,
    command: 'escapement scheduler',
  }))
}

export async function examineBroken(session: Session): Promise<Diagnosis[]> {
  return toldOf('broken', await listBroken(session, BOUNDS), ({ name, reason, since }) => ({
    subject: name,
    detail: `taken out by its breaker since ${timeOf(since)}${reason === null ? '' : `: ${reason}`}`,
    fix: 'mend what makes its runs fail, then resume it: its plan times are skipped until then',
    command: `escapement schedules resume ${shellWord(name)}`,
  }))
}

/** As many are counted: each is one entry of an index. */
const MOST_NEWER = 10_000

export function readZoneData(session: Session, zoneData: string): Promise<NewerZoneData> {
  return countNewerZoneData(session, zoneData, MOST_NEWER)
}

export function zoneDataDiagnoses({ schedules, newest }: NewerZoneData, zoneData: string): Diagnosis[] {
  const count = `${schedules === MOST_NEWER ? 'at least ' : ''}${counted(schedules, 'schedule was', 'schedules were')}`
  return told('zone_data', schedules === 0 ? [] : [schedules], () => ({
    subject: zoneData || 'data of an unknown version',
    detail: `${count} computed with newer zone data (up to ${newest}) than this process has`,
    fix: 'run every process that plans or changes schedules on a Node.js that has the newest zone data; this shows which it has',
    command: 'node -p process.versions.tz',
  }))
}
