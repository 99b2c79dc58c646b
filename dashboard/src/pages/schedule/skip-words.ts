import type { Result } from '../../../../src/http-client/index.js'

export type SkipReason = NonNullable<Result<'listHistory'>['entries'][number]['reason']>

/** Why plan times did not run, for people. */
export const SKIP_WORDS: Readonly<Record<SkipReason, string>> = {
  missed: 'missed while nothing was running',
  paused: 'paused',
  overlap: 'an earlier run was still open',
  operator: 'skipped by an operator',
  gate: 'turned away by the gate of its job',
  broken: 'taken out after failures',
  expired: 'too late to be caught up',
  no_scope: 'there was no scope to run for',
}
