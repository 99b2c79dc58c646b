import type { Run } from '../api/client.ts'

/** How far its handler says that it is. */
export function ProgressBar({ progress: { fraction, note } }: { progress: NonNullable<Run['progress']> }) {
  const percent = Math.round(fraction * 100)
  return (
    <div className="grid gap-1.5">
      <div className="flex items-baseline justify-between gap-3">
        <span className="min-w-0 [overflow-wrap:anywhere]">{note ?? 'Under way'}</span>
        <span className="text-muted tabular-nums">{percent} %</span>
      </div>
      <progress
        aria-label="Progress"
        value={percent}
        max={100}
        className="h-1.5 w-full appearance-none overflow-hidden rounded-full bg-raised [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-raised [&::-webkit-progress-value]:bg-accent"
      />
    </div>
  )
}
