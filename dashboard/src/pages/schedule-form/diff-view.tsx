import { useQuery } from '@tanstack/react-query'
import type { Result } from '../../../../src/http-client/index.js'
import { parseTiming } from '../../../../src/time/timing.js'
import type { Schedule } from '../../api/client.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { FieldChanges } from './field-changes.tsx'
import { PlanTime } from './plan-time.tsx'
import { diffQuery } from './queries.ts'
import type { Fields } from './reading.ts'

export interface DiffViewProps {
  schedule: Schedule
  patch: Fields
  zone: string
  /** Which look it is: each asks anew. */
  look: number
}

/** What an edit would change, as the server finds it, before it is made. */
export function DiffView({ schedule, patch, zone, look }: DiffViewProps) {
  const query = useQuery(diffQuery(schedule.name, patch, look))
  return (
    <Loaded query={query}>
      {(diff) =>
        diff.fields.length === 0 ? (
          <p className="text-muted">It is the same in other words: nothing would change.</p>
        ) : (
          <div className="grid max-h-[60vh] gap-4 overflow-y-auto">
            <FieldChanges
              changes={Object.entries(patch).map(([field, after]) => ({
                field,
                before: schedule[field as keyof Schedule],
                after: field === 'timing' ? filled(after) : after,
              }))}
            />
            <Times diff={diff} zone={zone} />
          </div>
        )
      }
    </Loaded>
  )
}

/** With its defaults, so that it can be said in words. */
function filled(timing: unknown): unknown {
  try {
    return parseTiming(timing)
  } catch {
    return timing
  }
}

type Diff = Result<'diffSchedule'>

/** As the command line has them. */
const SIGNS = { removed: '-', moved: '~', added: '+', kept: '=' } as const
const TONES = { removed: 'text-bad', moved: 'text-warn', added: 'text-good', kept: 'text-muted' } as const

function Times({ diff, zone }: { diff: Diff; zone: string }) {
  const { removed, moved, added, kept } = diff
  const lines = [
    ...removed.map((at) => ({ what: 'removed' as const, at, to: undefined })),
    ...moved.map(({ from, to }) => ({ what: 'moved' as const, at: from, to })),
    ...added.map((at) => ({ what: 'added' as const, at, to: undefined })),
    ...kept.map((at) => ({ what: 'kept' as const, at, to: undefined })),
  ].sort((a, b) => (a.at < b.at ? -1 : 1))
  if (removed.length + moved.length + added.length === 0) {
    return <p className="text-muted">Its next plan times stay as they are.</p>
  }
  const counts = [
    [removed, 'removed'],
    [moved, 'moved'],
    [added, 'added'],
    [kept, 'kept'],
  ] as const
  const words = counts.filter(([list]) => list.length > 0).map(([list, what]) => `${list.length} ${what}`)
  return (
    <div className="grid gap-1.5">
      <p className="font-medium">Of its next plan times: {words.join(', ')}</p>
      <ul className="grid gap-0.5">
        {lines.map(({ what, at, to }) => (
          <li key={`${what} ${at}`} className={`flex flex-wrap gap-x-2 ${TONES[what]}`}>
            <span aria-hidden="true" className="w-3 text-center font-mono">
              {SIGNS[what]}
            </span>
            <span className="sr-only">{what}</span>
            <PlanTime at={at} zone={zone} />
            {to !== undefined && (
              <>
                <span>to</span> <PlanTime at={to} zone={zone} />
              </>
            )}
          </li>
        ))}
      </ul>
      <p className="text-muted text-xs">Times in {zone}.</p>
    </div>
  )
}
