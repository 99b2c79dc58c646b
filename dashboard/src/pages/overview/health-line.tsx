import { useVerdict } from '../../health/use-verdict.ts'

const TONES = {
  good: 'border-good/35 bg-good-tint text-good',
  warn: 'border-warn/35 bg-warn-tint text-warn',
  bad: 'border-bad/35 bg-bad-tint text-bad',
  busy: 'border-accent/35 bg-surface text-accent',
  quiet: 'border-line bg-surface text-muted',
} as const

/** Everything in one line: on time, late, broken, paused or stuck, and why. */
export function HealthLine() {
  const verdict = useVerdict()
  return (
    <p className={`rounded-lg border px-4 py-2.5 ${TONES[verdict?.tone ?? 'quiet']}`}>
      {verdict ? (
        <>
          <strong className="font-semibold">{verdict.word}.</strong> {verdict.reason}
        </>
      ) : (
        'Reading…'
      )}
    </p>
  )
}
