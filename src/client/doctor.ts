import { listSymptoms, type Symptom } from '../store/queries/symptoms.js'
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
}

const MOST_OF_A_KIND = 20

/** What is wrong with the system as the database sees it; an empty list is health. */
export async function diagnose(store: Store): Promise<Diagnosis[]> {
  const symptoms = await listSymptoms(store, MOST_OF_A_KIND)
  return symptoms.map((symptom) => ({ ...symptom, fix: FIXES[symptom.kind] }))
}
