import { expect, it } from 'vitest'
import { adviceOn } from './advice.ts'

it('says what to do about each refusal that a schedule can meet', () => {
  for (const code of ['gate_closed', 'run_open', 'already_decided', 'schedule_exists', 'version_conflict']) {
    expect(adviceOn(code), code).toMatch(/\.$/)
  }
  expect(adviceOn('internal_error')).toBeUndefined()
  expect(adviceOn(undefined)).toBeUndefined()
})
