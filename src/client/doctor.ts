import { listSymptoms, type Symptom } from '../store/queries/symptoms.js'
import { countNewerZoneData } from '../store/queries/zone-data.js'
import type { Store } from '../store/store.js'

export type Diagnosis = Symptom & {
  /** What to do about it. */
  fix: string
}

const FIXES: Readonly<Record<Symptom['kind'], string>> = {
  unplannable: 'put the schedule again with a timing and scopes that work; it is tried again each minute',
  overdue: 'start a scheduler that has its job: escapement up',
  expired_lease: 'start a worker that has its job: escapement up',
  unknown_job: 'start a worker that has this job, or delete the schedules that ask for it',
  quarantined:
    'mend the rows, which then are tried again by themselves; if the fault was elsewhere: escapement sweep --quarantined',
  zone_data: 'run every process that plans or changes schedules on a Node.js that has the newest zone data',
}

const MOST_OF_A_KIND = 20

/** What is wrong with the system as the database sees it; an empty list is health. */
export async function diagnose(store: Store, zoneData: string): Promise<Diagnosis[]> {
  const symptoms = [...(await listSymptoms(store, MOST_OF_A_KIND)), ...(await olderZoneData(store, zoneData))]
  return symptoms.map((symptom) => ({ ...symptom, fix: FIXES[symptom.kind] }))
}

async function olderZoneData(store: Store, zoneData: string): Promise<Symptom[]> {
  const { schedules, newest } = await countNewerZoneData(store, zoneData)
  if (schedules === 0) return []
  const own = zoneData || 'data of an unknown version'
  const detail = `${schedules} schedules were computed with newer zone data (up to ${newest}) than this process has`
  return [{ kind: 'zone_data', subject: own, detail }]
}
