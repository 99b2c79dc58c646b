import { EscapementError } from '../api/client.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'

/** Before anything is known of who asks: the server does not answer, or does not let anybody in from here. */
export function UnreachablePage({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  const isRefused = error instanceof EscapementError && error.code === 'forbidden'
  return (
    <main className="mx-auto grid max-w-lg gap-4 px-4 py-16">
      <h1 className="text-lg font-semibold">
        {isRefused ? 'You are not let in from here' : 'Escapement does not answer'}
      </h1>
      <Failure error={error} />
      <div>
        <Button onClick={onRetry}>Try again</Button>
      </div>
    </main>
  )
}
