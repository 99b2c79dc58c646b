export type { Runs } from './client/runs.js'
export type { ListOptions, PutOptions, Schedules } from './client/schedules.js'
export type { Clock } from './clock.js'
export { defineConfig, type EscapementConfig } from './config.js'
export { type ErrorCode, EscapementError, type Mistake } from './errors.js'
export {
  createEscapement,
  type Escapement,
  type Role,
  type StartOptions,
} from './escapement.js'
export type { EventMap, EventName, RunEvent, ScheduleEvent } from './events/bus.js'
export type { Logger } from './logger.js'
export type { DatabaseOption, EscapementOptions } from './options.js'
export { defineJob, type HandlerContext, type Job, type JobDefinition } from './runs/job.js'
export type { RetryPolicy } from './runs/retry-delay.js'
export type { Run, RunState, RunTrigger } from './runs/run.js'
export type { Schedule, ScheduleDefinition, ScheduleState } from './schedules/schedule.js'
export type { Database, Param, Queryable, Transaction } from './store/database.js'
export type { DurationInput } from './time/duration.js'
export type { InstantInput } from './time/instant.js'
export { after, cron, every, once, rrule, type Timing } from './time/timing.js'
