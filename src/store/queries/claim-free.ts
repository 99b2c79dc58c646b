/** Claims of jobs without limits: runs with rows of their own, and lots. */
import { often } from '../often.js'
import { NOW, type Session } from '../store.js'
import {
  asClaimed,
  type ClaimedInLine,
  firstIn,
  isOfLot,
  leaseLine,
  MOST_LOTS,
  runsInLine,
} from './claim-line.js'
import {
  CLOCK,
  type Claim,
  type ClaimedRow,
  claimParams,
  frontParams,
  LEASE_PICKED,
  MAY_CLAIM,
  prioritiesOr,
  WAITING,
  WAITING_LOT,
} from './claim-parts.js'

export async function claimFree(session: Session, claim: Claim): Promise<ClaimedRow[]> {
  if (claim.jobs.length === 0) return []
  const { lots = { areWaiting: false } } = claim
  const params = [...claimParams(session, claim), ...frontParams(claim.from)]
  if (!lots.areWaiting) {
    const rows = await session.query<ClaimedRow>(CLAIM_RUNS, params)
    lots.areWaiting = rows.some(isOfLot)
    if (!lots.areWaiting) return rows
  }
  const rows = await session.query<ClaimedInLine>(CLAIM_IN_LINE, [...params, MOST_LOTS])
  lots.areWaiting = rows.some(isOfLot)
  return runsInLine(rows)
}

const PICK_RUNS = firstIn('runs_open', {
  priorities: prioritiesOr('$12'),
  isWaiting: WAITING,
  jobs: '$4',
  columns: 'id, priority, eligible_at',
  since: '$11::timestamptz',
  limit: '$10',
})

/** Mostly there are no lots, and this is the shorter way. Where one waits it takes nothing, and says so: all stand in one line. */
const CLAIM_RUNS = often(
  'claim runs',
  `
  with waiting_lot as materialized (
    select * from {schema}.lots where ${WAITING_LOT} and queue = any($8::text[]) and job = any($4) limit 1
  ),
  clock as materialized (
    select ${NOW} as now from {schema}.control where ${MAY_CLAIM} and not exists (select from waiting_lot)
  ),
  run as materialized (${PICK_RUNS}),
  picked as materialized (select id from run limit $9),
  ${LEASE_PICKED}
  union all
  ${asClaimed('null')} from waiting_lot as l`,
)

const CLAIM_IN_LINE = often(
  'claim lots',
  `
  with ${CLOCK},
  run as materialized (${PICK_RUNS}),
  ${leaseLine('$4')}`,
)
