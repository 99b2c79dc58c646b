import { COMMIT } from './proxy.js'

/** Where a process is stopped or killed: by a piece of the statement that it has just sent. A test finds each in the library. */
export const POINTS: Readonly<Record<string, string>> = {
  'locks what is due': 'and next_at is not null and kind = any($3)',
  'records a plan': "counted = c.counted + (c.kind = 'after'",
  'claims runs': "set state = 'running', attempt = r.attempt + 1",
  'renews leases': 'select r.id, r.lease_token from',
  'recovers leases': "then 'stale_lease' else 'lease_lost' end",
  'completes runs': "select ended.id, 'succeeded'",
  'writes failures': 'select ended.id, ended.outcome',
  'changes rows': 'transition_log (field_id, key, due_at, applied_at',
  commits: COMMIT,
}
