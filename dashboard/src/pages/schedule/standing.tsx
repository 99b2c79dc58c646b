import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Run, Schedule } from '../../api/client.ts'
import { ProgressBar } from '../../runs/progress-bar.tsx'
import { ScheduleState } from '../../schedules/schedule-state.tsx'
import { zoneOf } from '../../schedules/timing-words.ts'
import { everyZone, longTime } from '../../time/format.ts'
import { Moment } from '../../time/moment.tsx'
import { useShownZone } from '../../time/shown-zone.tsx'
import { useNow } from '../../time/use-now.ts'
import { aheadQuery, openRunQuery } from './queries.ts'

/** Where it stands: its state and why, and what is next. */
export function Standing({ schedule }: { schedule: Schedule }) {
  const { state } = schedule
  const isBroken = state === 'broken'
  return (
    <section
      aria-label="Where it stands"
      className={`grid gap-x-8 gap-y-3 rounded-lg border px-4 py-3 md:grid-cols-2 ${isBroken ? 'border-bad/40 bg-bad-tint/50' : 'border-line bg-surface'}`}
    >
      <div className="grid min-w-0 content-center gap-1">
        <div>
          <ScheduleState schedule={schedule} />
        </div>
        <Note schedule={schedule} />
      </div>
      {state !== 'paused' && (
        <div className="grid min-w-0 content-center">
          <Next schedule={schedule} />
        </div>
      )}
    </section>
  )
}

/** Why it is not active, by whom, since when and until when. */
function Note({ schedule: { state, stateNote, timing } }: { schedule: Schedule }) {
  if (stateNote === null || state === 'finished') return null
  const { reason, by, since, until } = stateNote
  const zone = zoneOf(timing)
  return (
    <>
      <p className={`font-medium [overflow-wrap:anywhere] ${state === 'broken' ? 'text-bad' : ''}`}>
        {reason ?? 'without a reason'}
      </p>
      <p className={`text-xs ${state === 'broken' ? 'text-bad' : 'text-muted'}`}>
        {by !== null && `by ${by}, `}since <Moment at={since} zone={zone} show="local" /> (
        <Moment at={since} zone={zone} />)
        {until !== null && (
          <>
            , until <Moment at={until} zone={zone} show="local" /> (<Moment at={until} zone={zone} />)
          </>
        )}
      </p>
    </>
  )
}

/** Nothing for one that is paused. */
function Next({ schedule }: { schedule: Schedule }) {
  const { state, stateNote, timing } = schedule
  switch (state) {
    case 'active':
      return <NextRun schedule={schedule} />
    case 'broken':
      return (
        <p className="text-pretty text-bad">
          It runs nothing until it is resumed{stateNote?.until ? ', or tried again after its cooldown' : ''}.
          Resuming clears this, and goes on with the next plan time to come; those that passed are recorded as
          skipped.
        </p>
      )
    case 'finished':
      return (
        <p>
          No plan time is left.{' '}
          {stateNote !== null && (
            <span className="text-muted">
              It ended <Moment at={stateNote.since} zone={zoneOf(timing)} /> (
              <Moment at={stateNote.since} zone={zoneOf(timing)} show="local" />
              ).
            </span>
          )}
        </p>
      )
  }
}

function NextRun({ schedule }: { schedule: Schedule }) {
  const { name, nextAt, timing } = schedule
  const now = useNow()
  const { data } = useQuery({ ...aheadQuery(name), enabled: timing.kind !== 'after' })
  if (nextAt === null) return timing.kind === 'after' ? <OpenRun schedule={schedule} /> : null
  // One that is due is being decided; which of the others are to be skipped, the preview knows.
  const isDue = Date.parse(nextAt) <= now.getTime()
  const ahead = isDue ? [] : (data?.occurrences ?? [])
  const next = ahead.length === 0 ? nextAt : ahead.find(({ skipped }) => !skipped)?.planTime
  const skipped = ahead.findIndex((each) => !each.skipped)
  return (
    <>
      {next === undefined ? (
        <Headline>after the {ahead.length} plan times that are to be skipped</Headline>
      ) : (
        <>
          <Headline>
            <Moment at={next} zone={zoneOf(timing)} />
          </Headline>
          <p>
            <LongMoment at={next} zone={zoneOf(timing)} />
          </p>
        </>
      )}
      {skipped > 0 && (
        <p className="text-muted text-xs">
          {skipped === 1 ? 'The plan time before it is' : `The ${skipped} plan times before it are`} to be
          skipped.
        </p>
      )}
    </>
  )
}

function Headline({ children }: { children: ReactNode }) {
  return (
    <p className="text-base">
      <span className="text-muted">Next run:</span> <strong className="font-semibold">{children}</strong>
    </p>
  )
}

function LongMoment({ at, zone }: { at: string; zone: string | undefined }) {
  const instant = new Date(at)
  return (
    <time dateTime={at} title={everyZone(instant, zone)}>
      {longTime(instant, useShownZone())}
    </time>
  )
}

const RUN_WORDS: Partial<Record<Run['state'], string>> = {
  running: 'running…',
  retrying: 'retrying…',
  pending: 'about to run…',
}

/** What a schedule that counts from the end of its last run waits for. */
function OpenRun({ schedule: { name } }: { schedule: Schedule }) {
  const { data: run } = useQuery(openRunQuery(name))
  if (!run) return null
  return (
    <div className="grid gap-1.5">
      <p className="text-base">
        <Link href={`/runs/${run.id}`} className="font-semibold text-accent underline underline-offset-2">
          {RUN_WORDS[run.state]}
        </Link>
      </p>
      <p className="text-muted">The next run is planned when this one has ended.</p>
      {run.state === 'running' && run.progress !== null && <ProgressBar progress={run.progress} />}
    </div>
  )
}
