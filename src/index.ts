export type { AuditReport, Finding } from './client/audit.js'
export type { BackfillOptions, BackfillReport } from './client/backfill.js'
export type { BulkOptions, BulkPauseOptions, BulkReport, ScheduleFilter } from './client/bulk-pausing.js'
export type { CancelOptions, RetryReport } from './client/cancelling.js'
export type { Claiming, ClaimingStatus } from './client/claiming.js'
export type { Diagnosis, DiagnosisKind, Severity } from './client/diagnosis.js'
export type { Examination } from './client/doctor.js'
export type {
  Enqueued,
  Enqueueing,
  EnqueueManyOptions,
  EnqueueOptions,
} from './client/enqueueing.js'
export type { ExportManifest, ExportMode, ExportSource } from './client/export-format.js'
export type { ExportOptions } from './client/exporting.js'
export type { Forecast, ForecastBy, ForecastOptions } from './client/forecast.js'
export type { ForecastBucket } from './client/forecast-counting.js'
export type { DatabaseGauges, Gauges } from './client/gauges.js'
export type { Health, LoopHealth, Readiness } from './client/health.js'
export type { HistoryEntry, HistoryOptions, HistoryRun } from './client/history.js'
export type { ImportOptions, ImportReport } from './client/importing.js'
export type { Occurrence } from './client/ledger.js'
export type { Move, Moving } from './client/moving.js'
export type { JobOverview, Overview, QueueOverview, Stats, WorkerOverview } from './client/overview.js'
export type { PauseOptions } from './client/pausing.js'
export type { PlannedOptions, PlannedPage, PlannedSchedule } from './client/planned.js'
export type { SchedulePreview } from './client/previewing.js'
export type { RecentOccurrence } from './client/recent.js'
export type { Attempt, RunDetails, RunSnapshot } from './client/run-details.js'
export type { RunPage, RunSearchOptions } from './client/run-search.js'
export type { RetryFilter, Runs } from './client/runs.js'
export type {
  ChangesOptions,
  DeleteOptions,
  ListOptions,
  Patch,
  PutOptions,
  ScheduleChange,
  Schedules,
} from './client/schedules.js'
export type { FoundSchedule, SchedulePage, SearchOptions } from './client/searching.js'
export type { StatsHistory, StatsHistoryRange, StatsPoint } from './client/stats-history.js'
export type { SyncOptions, SyncReport } from './client/sync.js'
export type { Timeline, TimelineOptions } from './client/timeline.js'
export type { AccessRole, Token, TokenDefinition, TokenHolder, Tokens } from './client/tokens.js'
export type { FieldStatus, TransitionStatus, Transitions } from './client/transitions.js'
export type { TriggerOptions } from './client/triggering.js'
export type { EditOptions, VerbOptions } from './client/verb.js'
export type { Clock } from './clock.js'
export { defineConfig, type EscapementConfig } from './config.js'
export { type ErrorCode, EscapementError, type Mistake } from './errors.js'
export { createEscapement, type Escapement, type GroupAccess } from './escapement.js'
export type {
  AllEvents,
  AnyEvent,
  EventCounts,
  EventMap,
  EventName,
  MissedEvents,
  RunEvent,
  ScheduleEvent,
} from './events/bus.js'
export type { ClaimedRun, LocalEventMap } from './events/local-events.js'
export { httpJob } from './http-job/http-job.js'
export type { HttpJobInput } from './http-job/input.js'
export type { HttpJobOptions } from './http-job/options.js'
export type { HttpJobResult } from './http-job/outcome.js'
export type { Logger } from './logger.js'
export type { DatabaseOption, EscapementOptions, Role, StartOptions } from './options.js'
export type { DirectRunOptions, EnqueueItem } from './runs/direct-run.js'
export {
  defineJob,
  type GateAnswer,
  type GateContext,
  type HandlerContext,
  type HandlerTransaction,
  type Job,
  type JobDefinition,
  type OnStale,
  type ScopeProvider,
} from './runs/job.js'
export type { JobPolicies } from './runs/job-policies.js'
export type { NoticeEvent } from './runs/notice.js'
export type { NoticeEventName, Notification } from './runs/notification.js'
export {
  type ExponentialBackoff,
  NonRetryableError,
  RetryAfterError,
  type RetryPolicy,
} from './runs/retry-delay.js'
export type { Run, RunState, RunTrigger } from './runs/run.js'
export type { SkipReason } from './schedules/catch-up.js'
export type { ScheduleDiff } from './schedules/diff.js'
export type { CatchUp, Overlap, PolicyFields } from './schedules/policies.js'
export type { Schedule, ScheduleDefinition, ScheduleState, StateNote } from './schedules/schedule.js'
export type { TransactionLike } from './store/caller-transaction.js'
export type { Database, Param, Queryable, Transaction } from './store/database.js'
export type { SweeperOptions, SweepOptions } from './sweeper/sweeper.js'
export type { DurationInput } from './time/duration.js'
export type { InstantInput } from './time/instant.js'
export { after, cron, every, once, rrule, type Timing } from './time/timing.js'
export {
  type Action,
  hardDelete,
  type SetAction,
  set,
  softDelete,
  type TransitionValue,
} from './transitions/action.js'
export type {
  SweepCounts,
  SweepReport,
  SweepTransaction,
  TransitionChange,
  TransitionHooks,
} from './transitions/change.js'
export type { TableName, TransitionDeclaration } from './transitions/declaration.js'
export type { DeclaredTable, RowDeclaration } from './transitions/row-declaration.js'
