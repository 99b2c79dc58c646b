/** What tables, views and columns of the schema hold, for its page. A table or column without words fails a test. */

interface Words {
  text: string
  columns: Readonly<Record<string, string>>
}

const ASKED = {
  id: 'Its id: [derived](run-ids.md) from its occurrence or its key, else a UUIDv7.',
  schedule_id:
    'The schedule that it comes from; null for a direct run. No foreign key: history outlives schedules.',
  scope: 'The scope of its occurrence.',
  plan_time: 'The plan time of its occurrence; null for manual and direct runs.',
  schedule_version: 'The version of the schedule that it was planned by: its content is in `changes`.',
  trigger: 'What asked for it: `scheduled`, `manual`, `backfill` or `direct`.',
  job: 'The job.',
  key: 'The key that a direct run was asked for under.',
  input: 'What the handler gets.',
  queue: 'The queue.',
  priority: 'Higher is claimed first within its queue.',
  created_at: 'When it was asked for.',
}

const STANDING = {
  eligible_at: 'When it may be claimed: plan time, delay and jitter, or the time of its next attempt.',
  attempt: 'The number of its newest attempt, counted when it is claimed.',
  lease_token:
    'The fence: whoever writes about a running run must name it. Of an ended run, that of its last attempt.',
  lease_expires_at: 'When its lease ends, unless it is renewed.',
  worker_id: 'The worker that has it, or had it last.',
  started_at: 'When its newest attempt was claimed.',
  lane: 'Overlap: null for any number at once, 0 may run, 1 waits alone, 2 waits behind it with others.',
  progress: 'How far its handler says that it has come, from 0 to 1.',
  progress_note: 'What its handler says of it.',
  totals: 'Counters that its handler has added up; `errors` among them counts for the breaker.',
  error_code: 'The [code](error-codes.md#of-runs-and-attempts) of how its newest attempt failed.',
  error_message: 'The message of that.',
}

const CLAIMED_WITH = {
  max_attempts: 'How many attempts it has if its worker is lost, as of the code that claimed it.',
  fails_when_stale: 'Whether it has failed if its worker is lost, as of the code that claimed it.',
}

const STATE = '`pending`, `running`, `retrying`, `succeeded`, `failed`, `cancelled` or `skipped`.'
const FINISHED_AT = 'When it ended.'
const RESULT = 'What the handler returned, as JSON of at most 16 KiB.'

const { progress, progress_note, totals, error_code, error_message } = STANDING
const told = { progress, progress_note, totals, error_code, error_message }

/** Of a change that was made, or was to be, to a row of a declared table. */
const TRANSITION = {
  field_id: 'The declared field, in `transition_fields`.',
  key: "The row's primary key as text; of several columns a JSON array of texts.",
  due_at: 'The due time, as the row had it.',
  action: '`set`, `softDelete` or `hardDelete`.',
  column_name: 'The column that is written.',
}

export const SCHEMA_WORDS: Readonly<Record<string, Words>> = {
  schedules: {
    text: 'What each schedule holds. One row each.',
    columns: {
      id: 'Its id. One that is deleted and made again under its name has another.',
      name: 'Its name.',
      version: 'Bumped by every edit; a plan made under another version is refused.',
      job: 'The job that it runs.',
      input: 'What the handler gets.',
      queue: 'The queue of its runs.',
      priority: 'The priority of its runs.',
      group: 'The label by which schedules are filtered, paused together and granted.',
      scopes: "Its scopes; null where the job's provider gives them.",
      timing: 'When it runs, with all defaults filled in.',
      policies: 'How it treats plan times, with all defaults filled in.',
      description: 'For people.',
      metadata: 'An object of your own.',
      start_at: 'The earliest plan time, inclusive.',
      end_at: 'The end of the plan times, exclusive.',
      limit: 'How many plan times there are, counted from `start_at`.',
      until_at: 'Where `end_at` or `limit` ends them.',
      source: 'Who declared it, if it was synchronised from code.',
      state: '`active`, `paused`, `broken` or `finished`.',
      state_reason: 'Why it is in that state.',
      state_by: 'Who brought it there.',
      state_since: 'Since when.',
      state_until: 'When a pause, or the cooldown of a breaker, ends by itself.',
      ledger_from: 'What became of plan times after this, and up to `decided_through`, is recorded.',
      created_at: 'When it was made.',
      updated_at: 'When it was last edited.',
      zone_data:
        'The version of the time zone data that its cursor was computed with; null where no zone can move it, empty where it is not known.',
      zone_data_from: 'Plan times after this were computed with `zone_data`.',
    },
  },
  cursors: {
    text: 'Where each schedule stands. A tick rewrites this narrow row and no other; whoever plans or changes a schedule locks it first.',
    columns: {
      schedule_id: 'The schedule.',
      version: 'The version of the schedule that this belongs to.',
      kind: 'The kind of its timing, which a scheduler must know to plan it.',
      provider: 'The job whose provider gives its scopes, which a scheduler must have to plan it.',
      next_at: 'The cursor: the next plan time that is not yet decided.',
      wake_at: 'When a scheduler must look at it; null for never.',
      decided_through: 'Every plan time up to here is decided; it only grows.',
      has_requests: 'Whether there are wishes to skip plan times to come.',
      plan_error: 'Why it could not be planned when a scheduler last tried.',
      after_ms: 'The interval of an `after` timing, in milliseconds.',
      counted: 'Plan times of an `after` timing that were decided, for its limit.',
      failures: 'Scheduled runs that failed in a row, for the breaker.',
    },
  },
  runs: {
    text: 'All about each run, for reading: a view of the tables below.',
    columns: { ...ASKED, ...STANDING, state: STATE, result: RESULT, finished_at: FINISHED_AT },
  },
  runs_at_hand: {
    text: 'All open runs alike, for reading all of them or those of a state: a view.',
    columns: { ...ASKED, ...STANDING, state: '`pending`, `running` or `retrying`.' },
  },
  runs_asked: {
    text: 'What each run is to do: written once. The primary key is the uniqueness of an occurrence, and of a key.',
    columns: {
      ...ASKED,
      trace_context: 'The W3C trace context of the span that asked for it.',
    },
  },
  runs_open: {
    text: 'Where each open run stands: a narrow row, which whoever ends the run deletes.',
    columns: {
      ...ASKED,
      ...STANDING,
      ...CLAIMED_WITH,
      state: '`pending`, `running` or `retrying`.',
      previous_token:
        'The token of the attempt that failed last, so that an outcome whose answer was lost is known again.',
      has_counted: 'Whether the breaker has counted its failure before an operator tried it again.',
    },
  },
  runs_ended: {
    text: 'How each run ended. Rows are only added, and pruned by age.',
    columns: {
      ...STANDING,
      ...told,
      id: ASKED.id,
      state: '`succeeded`, `failed`, `cancelled` or `skipped`.',
      finished_at: FINISHED_AT,
      result: RESULT,
    },
  },
  lots: {
    text: 'Runs that were asked for, or planned, together wait, are claimed and end together, up to a hundred in a row.',
    columns: {
      id: 'The id of the first run that it began with.',
      last_id: 'The id of the last.',
      eligible_at: STANDING.eligible_at,
      lease_expires_at: 'When the lease of all its runs ends; null while they wait.',
      started_at: 'When they were claimed.',
      lease_token: 'The fence of all its runs.',
      worker_id: 'The worker that has them.',
      ...CLAIMED_WITH,
      priority: ASKED.priority,
      job: ASKED.job,
      queue: ASKED.queue,
      is_scheduled: 'Whether they are occurrences of schedules.',
      runs: 'Those that are open and have no row of their own in `runs_open`.',
    },
  },
  attempts: {
    text: 'Attempts that failed. The one that succeeded is told by its run.',
    columns: {
      run_id: 'The run.',
      number: 'Counted from 1.',
      worker_id: 'The worker that made it.',
      started_at: 'When it was claimed.',
      finished_at: 'When it failed.',
      code: 'The [code](error-codes.md#of-runs-and-attempts) of the failure.',
      message: 'Its message, of at most 4,000 characters.',
      stack: 'Its stack, if there is one.',
    },
  },
  skips: {
    text: 'Plan times that were decided without a run, as ranges: both ends are plan times, and included.',
    columns: {
      schedule_id: 'The schedule.',
      scope: 'The scope.',
      schedule_version: 'The version of the schedule that decided it.',
      first_plan_time: 'The first.',
      last_plan_time: 'The last.',
      reason: '`missed`, `paused`, `overlap`, `operator`, `gate`, `broken`, `expired` or `no_scope`.',
      decided_at: 'When it was decided.',
    },
  },
  skip_requests: {
    text: 'Plan times to come that somebody wishes to skip.',
    columns: {
      schedule_id: 'The schedule.',
      plan_time: 'The plan time.',
      requested_by: 'Who asked.',
      requested_at: 'When.',
    },
  },
  changes: {
    text: 'The change log: what was done to schedules, and by whom. The row that made a version is also the snapshot that its runs refer to.',
    columns: {
      id: 'In the order in which it was done.',
      schedule_id: 'The schedule.',
      version: 'The version from here on.',
      action: 'The verb.',
      actor: 'Who did it.',
      before: 'What it held before.',
      after: 'What it holds from here on.',
      state: 'The state from here on.',
      boundary: '`decided_through` at that moment: plan times up to it belong to the version before.',
      changed_at: 'When.',
      zone_data:
        'The version of the time zone data that plan times after the boundary were computed with at first.',
      name: 'The name that it had from here on.',
    },
  },
  jobs: {
    text: 'What workers can do, published by them, so that a process without the code knows which jobs there are.',
    columns: {
      name: 'The name of the job.',
      policies: 'How its runs are treated, and the JSON Schema of its input if there is one.',
      published_at: 'When a worker last published something new of it.',
    },
  },
  workers: {
    text: 'Who works, or did until lately.',
    columns: {
      id: 'Made anew whenever a worker starts.',
      host: 'The name of its host.',
      pid: 'The number of its process.',
      version: 'The version of Escapement.',
      queues: 'The queues that it takes runs from.',
      jobs: 'The jobs whose code it has.',
      concurrency: 'How many handlers it runs at once.',
      started_at: 'When it started.',
      seen_at: 'When it last said that it lives.',
      running: 'How many runs it worked on then.',
      session_lock:
        'The advisory lock that its session holds while the process lives; null where it has none.',
      begins:
        'The jobs of which it begins a run as it is enqueued, each with how often it is attempted; null where it begins none.',
      rest_lock:
        'The advisory lock that its session holds while it has nothing to do; null where it has none.',
    },
  },
  control: {
    text: 'One row: whether claiming is paused in all processes.',
    columns: {
      singleton: 'Always true.',
      claiming_paused_at: 'Since when claiming is paused; null where it is not.',
      claiming_paused_by: 'Who paused it.',
      claiming_paused_reason: 'Why.',
      claiming_held_until: 'Until when a move that waits for handlers holds claiming back.',
    },
  },
  run_minutes: {
    text: 'How many runs ended in each minute, and how late those were that started in it. A minute in which nothing happened has no row.',
    columns: {
      minute: 'Where it begins.',
      succeeded: 'Runs that succeeded in it.',
      failed: 'Runs that failed in it.',
      cancelled: 'Runs that were cancelled in it.',
      skipped: 'Runs that their gate turned away in it.',
      started: 'Runs that started in it.',
      lateness: 'How many of those started how late, in buckets.',
      latest_ms: 'The latest of them, in milliseconds.',
    },
  },
  schedule_words: {
    text: 'What schedules are searched by: derived from `schedules` by triggers.',
    columns: {
      schedule_id: 'The schedule.',
      name: 'Its name.',
      job: 'Its job.',
      group: 'Its group.',
      source: 'Its source.',
      words: 'Words of its name, job, group and description.',
    },
  },
  tokens: {
    text: 'Who may use the HTTP API: tokens, and sessions of browsers.',
    columns: {
      id: 'The public part of the token.',
      name: 'Who or what uses it: the actor of what is done with it.',
      hash: 'SHA-256 of its secret part, in hex.',
      role: '`viewer`, `operator` or `admin`.',
      group: 'The group that it is limited to.',
      parent_id: 'Of a session: the token that it was opened with.',
      created_at: 'When it was made.',
      created_by: 'By whom.',
      expires_at: 'When it ends by itself.',
      revoked_at: 'When it was revoked.',
      revoked_by: 'By whom.',
      last_used_at: 'When it was last used, to the minute.',
    },
  },
  transition_fields: {
    text: 'A number for each declared field of your tables, which the log holds in place of names.',
    columns: {
      id: 'The number.',
      table_schema: 'The schema of the table.',
      table_name: 'The table.',
      field: 'The due column.',
    },
  },
  transition_log: {
    text: 'Each change of a row whose time came: the audit record, and what keeps it from being made twice.',
    columns: {
      ...TRANSITION,
      applied_at: 'When it was done.',
      from_value: 'What it held before, as text.',
      to_value: 'What it holds since, as text.',
      actor: 'Always null: time did it.',
    },
  },
  transition_quarantine: {
    text: 'Rows whose time came and that could not be changed. They are left alone until their due time, their content or the declaration changes.',
    columns: {
      ...TRANSITION,
      row_version: "The row's `xmin`: an edit gives it another.",
      to_value: 'What was to be written, as text.',
      code: 'The SQLSTATE of what the database said.',
      message: 'Its message.',
      quarantined_at: 'When it was set aside.',
    },
  },
  exports: {
    text: 'Where all of this has been: the exports that it came by, and the one by which it was moved away.',
    columns: {
      id: 'The id of the export.',
      mode: '`copy` or `move`.',
      taken_at: 'When it was taken.',
      taken_by: 'By whom.',
      imported_at:
        'When it was imported here; null where it was taken from here, and nothing can be changed any more.',
    },
  },
  migrations: {
    text: 'The migrations that were applied.',
    columns: { number: 'Its number.', name: 'Its name.', applied_at: 'When it was applied.' },
  },
}
