/** Claims of jobs without limits: runs with rows of their own, and lots. */
import { often } from '../often.js'
import { NOW, type Session } from '../store.js'
import {
  asClaimed,
  type ClaimedInLine,
  firstIn,
  firstLots,
  freeRuns,
  isOfLot,
  LEASE_LINE,
  lineParams,
  runsInLine,
} from './claim-line.js'
import { CLOCK, type Claim, type ClaimedRow, claimParams, LEASE_PICKED, MAY_CLAIM } from './claim-parts.js'
import { levelsIn, WAITING_LOT } from './fronts.js'

export async function claimFree(session: Session, claim: Claim): Promise<ClaimedRow[]> {
  if (claim.jobs.length === 0) return []
  const { lots = { areWaiting: false } } = claim
  if (!lots.areWaiting && claim.from == null) {
    const rows = await session.query<ClaimedRow>(CLAIM_RUNS, claimParams(session, claim))
    lots.areWaiting = rows.some(isOfLot)
    if (!lots.areWaiting) return rows
  }
  const rows = await session.query<ClaimedInLine>(CLAIM_IN_LINE, lineParams(session, claim))
  lots.areWaiting = rows.some(isOfLot)
  return runsInLine(rows)
}

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
  run as materialized (${firstIn('runs_open', {
    levels: levelsIn('runs_open'),
    jobs: '$4',
    columns: 'id',
    limit: '$10',
  })}),
  picked as materialized (select id from run limit $9),
  ${LEASE_PICKED}
  union all
  ${asClaimed('null')} from waiting_lot as l`,
)

const CLAIM_IN_LINE = often(
  'claim lots',
  `
  with ${CLOCK},
  ${firstLots('$4')},
  run as materialized (${freeRuns('$4')}),
  ${LEASE_LINE}`,
)
