/**
 * Every index of our tables, in the words in which PostgreSQL prints it: a test compares them with a schema that was just
 * migrated, so that none is forgotten here.
 */
const INDEXES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  attempts: {
    attempts_pkey: 'PRIMARY KEY USING btree (run_id, number)',
  },
  changes: {
    changes_by_schedule: 'INDEX USING btree (schedule_id, id)',
    changes_of_deleted: `INDEX USING btree (schedule_id) WHERE (action = 'delete'::text)`,
    changes_pkey: 'PRIMARY KEY USING btree (id)',
    changes_with_content: 'INDEX USING btree (schedule_id, id) WHERE (after IS NOT NULL)',
  },
  control: {
    control_pkey: 'PRIMARY KEY USING btree (singleton)',
  },
  cursors: {
    cursors_for_waking: 'INDEX USING btree (wake_at, schedule_id) WHERE (wake_at IS NOT NULL)',
    cursors_pkey: 'PRIMARY KEY USING btree (schedule_id)',
    cursors_unplannable: 'INDEX USING btree (next_at) WHERE (plan_error IS NOT NULL)',
  },
  exports: {
    exports_one_away: 'UNIQUE INDEX USING btree (((imported_at IS NULL))) WHERE (imported_at IS NULL)',
    exports_pkey: 'PRIMARY KEY USING btree (id)',
  },
  jobs: {
    jobs_pkey: 'PRIMARY KEY USING btree (name)',
  },
  lots: {
    lots_at_work: 'INDEX USING btree (job, started_at) WHERE (started_at IS NOT NULL)',
    lots_by_last_run: 'INDEX USING btree (last_id)',
    lots_for_claiming:
      'INDEX USING btree (queue, priority DESC, eligible_at, id) WHERE (lease_token IS NULL)',
    lots_for_recovery: 'INDEX USING btree (lease_expires_at) WHERE (lease_token IS NOT NULL)',
    lots_pkey: 'PRIMARY KEY USING btree (id)',
  },
  migrations: {
    migrations_pkey: 'PRIMARY KEY USING btree (number)',
  },
  run_minutes: {
    run_minutes_pkey: 'PRIMARY KEY USING btree (minute)',
  },
  runs_asked: {
    runs_asked_pkey: 'PRIMARY KEY USING btree (id)',
    runs_by_time: 'INDEX USING btree (COALESCE(plan_time, created_at), id)',
    runs_history:
      'INDEX USING btree (schedule_id, COALESCE(plan_time, created_at) DESC, id DESC) WHERE (schedule_id IS NOT NULL)',
  },
  runs_ended: {
    runs_by_age: 'INDEX USING btree (state, finished_at, id)',
    runs_ended_pkey: 'PRIMARY KEY USING btree (id)',
  },
  runs_open: {
    runs_at_work: 'INDEX USING btree (job, started_at) WHERE (num_nulls(lease_token) = 0)',
    runs_for_claiming: `INDEX USING btree (queue, priority DESC, eligible_at, id) WHERE ((state = ANY (ARRAY['pending'::text, 'retrying'::text])) AND (COALESCE((lane)::integer, 0) = 0))`,
    runs_for_recovery: `INDEX USING btree (lease_expires_at) WHERE (state = 'running'::text)`,
    runs_one_open_per_lane:
      'UNIQUE INDEX USING btree (schedule_id, scope, lane, ( CASE lane WHEN 2 THEN id ELSE NULL::uuid END)) NULLS NOT DISTINCT WHERE (lane IS NOT NULL)',
    runs_open_pkey: 'PRIMARY KEY USING btree (id)',
    runs_retrying: `INDEX USING btree (id) WHERE (state = 'retrying'::text)`,
  },
  schedule_words: {
    schedule_words_pkey: 'PRIMARY KEY USING btree (schedule_id)',
    schedules_by_words: 'INDEX USING gin (words)',
  },
  schedules: {
    schedules_by_end_of_pause: `INDEX USING btree (state_until) WHERE ((state = ANY (ARRAY['paused'::text, 'broken'::text])) AND (state_until IS NOT NULL))`,
    schedules_by_group: 'INDEX USING btree ("group", name) WHERE ("group" IS NOT NULL)',
    schedules_by_group_and_state: 'INDEX USING btree ("group", state, name) WHERE ("group" IS NOT NULL)',
    schedules_by_job: 'INDEX USING btree (job, name)',
    schedules_by_job_and_state: 'INDEX USING btree (job, state, name)',
    schedules_by_source: 'INDEX USING btree (source, name) WHERE (source IS NOT NULL)',
    schedules_by_state: 'INDEX USING btree (state, name)',
    schedules_by_zone_data: `INDEX USING btree (zone_data, id) WHERE ((state = 'active'::text) AND (zone_data IS NOT NULL))`,
    schedules_name_is_unique: 'UNIQUE USING btree (name)',
    schedules_pkey: 'PRIMARY KEY USING btree (id)',
  },
  skip_requests: {
    skip_requests_pkey: 'PRIMARY KEY USING btree (schedule_id, plan_time)',
  },
  skips: {
    skips_history: 'INDEX USING btree (schedule_id, last_plan_time DESC, scope DESC)',
    skips_pkey: 'PRIMARY KEY USING btree (schedule_id, scope, first_plan_time)',
  },
  tokens: {
    tokens_in_order: 'INDEX USING btree (created_at DESC, id DESC) WHERE (parent_id IS NULL)',
    tokens_of_sessions: 'INDEX USING btree (parent_id) WHERE (parent_id IS NOT NULL)',
    tokens_pkey: 'PRIMARY KEY USING btree (id)',
  },
  transition_fields: {
    transition_fields_pkey: 'PRIMARY KEY USING btree (id)',
    transition_fields_table_schema_table_name_field_key:
      'UNIQUE USING btree (table_schema, table_name, field)',
  },
  transition_log: {
    transition_log_pkey: 'PRIMARY KEY USING btree (field_id, key, due_at)',
  },
  transition_quarantine: {
    transition_quarantine_pkey: 'PRIMARY KEY USING btree (field_id, key, due_at)',
  },
  workers: {
    workers_pkey: 'PRIMARY KEY USING btree (id)',
  },
}

export interface OwnIndex {
  table: string
  name: string
  /** `INDEX`, `UNIQUE INDEX`, or of a constraint `PRIMARY KEY` and `UNIQUE`; then what it is over. */
  definition: string
}

export const OWN_INDEXES: readonly OwnIndex[] = Object.entries(INDEXES).flatMap(([table, indexes]) =>
  Object.entries(indexes).map(([name, definition]) => ({ table, name, definition })),
)
