/**
 * Defects, one for each guard, planted by exact replacement in a copy of the compiled library. Each must be found: a checker that is
 * content with these is content with anything. A text that is no longer there exactly once fails, so that none of them rots.
 */
import fs from 'node:fs'
import path from 'node:path'
import type { DistCopy } from './dist-copy.js'

export interface PlantedBug {
  name: string
  /** The faults under which it shows, by a part of their names; none where it needs none. */
  faults: readonly string[]
  replacements: readonly { file: string; from: string; to: string }[]
}

const outcomes = 'store/queries/outcomes.js'

export const PLANTED: readonly PlantedBug[] = [
  {
    // Each of the three guards of one run per occurrence is enough by itself: the key is the last, once the others are gone.
    name: 'no unique key',
    faults: [],
    replacements: [
      { file: 'runs/run-id.js', from: '.toISOString()}`);', to: '.toISOString()}` + Math.random());' },
      { file: 'store/queries/planning.js', from: '    for update skip locked\n', to: '' },
      {
        file: 'store/queries/planning.js',
        from: 'and c.next_at is not distinct from',
        to: 'and clock_timestamp() is distinct from',
      },
    ],
  },
  {
    name: 'host clock instead of the database’s',
    faults: [],
    replacements: [{ file: 'clock.js', from: 'now: () => null,', to: 'now: () => Date.now(),' }],
  },
  {
    name: 'cursor moved before the insert',
    faults: ['COMMIT', 'kill a process'],
    replacements: [
      {
        file: 'scheduler/tick.js',
        from: 'await recordPlans(session, planned, store.channel)',
        to: `await (async () => {
            await recordPlans(session, planned.map((one) => ({ ...one, plan: { ...one.plan, runs: [] } })), store.channel);
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
            return ids;
        })()`,
      },
    ],
  },
  {
    name: 'no fencing',
    faults: ['freeze', 'black hole'],
    replacements: [
      {
        file: outcomes,
        from: ' and r.lease_token = o.token\n       returning r.*, o.position\n',
        to: '\n       returning r.*, o.position\n',
      },
      {
        file: outcomes,
        from: ' and r.lease_token = o.token\n       returning r.*, o.position, o.result',
        to: '\n       returning r.*, o.position, o.result',
      },
      {
        file: outcomes,
        from: " and r.lease_token = o.token and o.state = 'retrying'",
        to: " and o.state = 'retrying'",
      },
      {
        file: outcomes,
        from: " and r.lease_token = o.token and o.state <> 'retrying'",
        to: " and o.state <> 'retrying'",
      },
    ],
  },
  {
    name: 'fold ignored',
    faults: [],
    replacements: [
      {
        file: 'time/wall-mapping.js',
        from: "return fold === 'first' && before > offset ? start + (before - offset) : start;",
        to: 'return start;',
      },
    ],
  },
  {
    name: 'notification trusted',
    faults: ['reset connections'],
    replacements: [
      {
        file: 'wait.js',
        from: 'await clock.sleep(ms, sleeper.signal);',
        to: 'await clock.sleep(3_600_000, sleeper.signal);',
      },
    ],
  },
]

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
