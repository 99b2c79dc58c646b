/**
 * Defects, one for each guard, planted by exact replacement in a copy of the compiled library. Each must be found: a checker that is
 * content with these is content with anything. A text that is no longer there exactly once fails, so that none of them rots.
 */
import fs from 'node:fs'
import path from 'node:path'
import type { Finding, FindingKind } from './checks/finding.js'
import type { DistCopy } from './dist-copy.js'

export interface PlantedBug {
  name: string
  /** The faults under which it shows, by a part of their names; none where it needs none. */
  faults: readonly string[]
  /** By what it must be seen: the kind, and what is said. Anything else that is found does not count. */
  seenAs: { kinds: readonly FindingKind[]; saying: RegExp }
  replacements: readonly { file: string; from: string; to: string }[]
}

const outcomes = 'store/queries/outcome-writing.js'

/** What is on time is fired by ticks too: a defect of theirs would hardly be seen otherwise. */
const NOTHING_AHEAD = {
  file: 'scheduler/ahead.js',
  from: 'hasPlans: () => plans.length > 0',
  to: 'hasPlans: () => false',
}

export const PLANTED: readonly PlantedBug[] = [
  {
    // Each of the four guards of one run per occurrence is enough by itself: the key is the last, once the others are gone.
    name: 'no unique key',
    faults: [],
    seenAs: { kinds: ['doubled'], saying: /\d runs of / },
    replacements: [
      { file: 'runs/run-id.js', from: '.toISOString(), hex', to: '.toISOString() + Math.random(), hex' },
      NOTHING_AHEAD,
      { file: 'store/queries/planning.js', from: `lock: 'for update skip locked'`, to: `lock: ''` },
      {
        file: 'store/queries/recording.js',
        from: 'and c.next_at is not distinct from',
        to: 'and clock_timestamp() is distinct from',
      },
      {
        file: 'store/queries/recording.js',
        from: 's.ctid = plan.place and s.id is not distinct from',
        to: 's.id =',
      },
      {
        file: 'store/queries/recording.js',
        from: 'c.ctid = plan.cursor_place and c.schedule_id is not distinct from',
        to: 'c.schedule_id =',
      },
    ],
  },
  {
    name: 'host clock instead of the database’s',
    faults: [],
    seenAs: { kinds: ['early'], saying: / began at / },
    replacements: [{ file: 'clock.js', from: 'now: () => null,', to: 'now: () => Date.now(),' }],
  },
  {
    name: 'cursor moved before the insert',
    faults: ['COMMIT', 'kill a process'],
    seenAs: { kinds: ['lost'], saying: /neither a run nor a skip/ },
    replacements: [
      NOTHING_AHEAD,
      {
        file: 'scheduler/tick.js',
        from: 'recordLocked(session, planned, { channel, offered })',
        to: `(async () => {
            await recordPlans(session, planned.map((one) => ({ ...one, plan: { ...one.plan, runs: [] } })), channel);
            await session.query('commit');
            await session.query('begin');
            const ids = [];
            for (const { schedule, plan } of planned) for (const run of plan.runs) {
                const params = [run.id, schedule.id, run.scope, new Date(run.planTime), schedule.version];
                const rows = await session.query(\`with opened as (
                    insert into {schema}.runs_open (id, schedule_id, scope, job, queue, priority, state, eligible_at, lane)
                    select $1, s.id, $3, s.job, s.queue, s.priority, 'pending', $4, case s.policies->>'overlap' when 'allow' then null else 0 end
                    from {schema}.schedules as s where s.id = $2 on conflict do nothing returning id
                  )
                  insert into {schema}.runs_asked (id, schedule_id, scope, plan_time, schedule_version, trigger, job, input, queue, priority, created_at)
                  select $1, s.id, $3, $4, $5, 'scheduled', s.job, s.input, s.queue, s.priority, date_trunc('milliseconds', clock_timestamp())
                  from {schema}.schedules as s, opened where s.id = $2 on conflict do nothing returning id\`, params);
                ids.push(...rows.map(({ id }) => id));
            }
            return { created: ids, leased: [] };
        })()`,
      },
    ],
  },
  {
    name: 'no fencing of completions',
    faults: ['freeze'],
    seenAs: { kinds: ['stale'], saying: / completed it/ },
    replacements: [
      {
        file: outcomes,
        from: ' and r.lease_token = o.token\n    returning r.*, o.position\n',
        to: '\n    returning r.*, o.position\n',
      },
      {
        file: outcomes,
        from: ' and r.lease_token = o.token\n    returning r.*, o.position, o.result',
        to: '\n    returning r.*, o.position, o.result',
      },
    ],
  },
  {
    name: 'no fencing of failures',
    faults: ['freeze'],
    seenAs: { kinds: ['stale'], saying: / is recorded as (failed|having lost)/ },
    replacements: [
      {
        file: outcomes,
        from: ' and r.lease_token = o.token and o.is_retried',
        to: ' and o.is_retried',
      },
      {
        file: outcomes,
        from: ' and r.lease_token = o.token and not o.is_retried',
        to: ' and not o.is_retried',
      },
    ],
  },
  {
    name: 'fold ignored',
    faults: [],
    seenAs: { kinds: ['unexpected'], saying: /^dst_fold half-past-one ran at / },
    replacements: [
      {
        file: 'time/wall-mapping.js',
        from: "return fold === 'first' && before > offset ? start + (before - offset) : start;",
        to: 'return start;',
      },
    ],
  },
  {
    // The cap of a sleep is what a lost notification costs at most.
    name: 'notification trusted',
    faults: ['notifications lost'],
    seenAs: { kinds: ['stuck', 'late'], saying: /quiet/ },
    replacements: [
      { file: 'wait.js', from: '(canListen ? 5_000 : 1_000)', to: '(canListen ? 3_600_000 : 3_600_000)' },
    ],
  },
]

/** Everything under which they are to be found, and nothing planted: what is found here is not of their making. */
export const CONTROL = { name: 'nothing', faults: [...new Set(PLANTED.flatMap(({ faults }) => faults))] }

/** The findings by which a defect is known. */
export function seenOf({ seenAs: { kinds, saying } }: PlantedBug, findings: readonly Finding[]): Finding[] {
  return findings.filter(
    ({ kind, about, message }) => kinds.includes(kind) && saying.test(`${about} ${message}`),
  )
}

export function plant({ dist }: DistCopy, { name, replacements }: PlantedBug): void {
  for (const { file, from, to } of replacements) {
    const place = path.join(dist, file)
    const text = fs.readFileSync(place, 'utf8')
    const times = text.split(from).length - 1
    if (times !== 1)
      throw new Error(`Planting "${name}": the text is in ${file} ${times} times, not once:\n${from}`)
    fs.writeFileSync(
      place,
      text.replace(from, () => to),
    )
  }
}
