import { Failure } from '../../parts/failure.tsx'
import { mistakesIn } from './refusal.ts'

/** What the server has refused: each mistake, which is told at its field too. */
export function Refused({ error, what }: { error: Error | null; what: string }) {
  const mistakes = mistakesIn(error)
  if (error === null || mistakes.length === 0) return <Failure error={error} what={what} />
  return (
    <div role="alert" className="rounded-md border border-bad/40 bg-bad-tint px-3 py-2 text-bad">
      <strong className="font-semibold">{what}</strong>
      <ul>
        {mistakes.map(({ field, message }) => (
          <li key={`${field} ${message}`} className="[overflow-wrap:anywhere]">
            <code className="font-mono text-xs">{field}</code> {message}
          </li>
        ))}
      </ul>
    </div>
  )
}
