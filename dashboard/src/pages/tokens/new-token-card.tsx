import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Button } from '../../parts/button.tsx'
import { CopyCommand } from '../../parts/copy-command.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import { newTokenQuery } from './queries.ts'

/** The text of the token that was just made: this once. */
export function NewTokenCard() {
  const queryClient = useQueryClient()
  const { data: made } = useQuery(newTokenQuery)
  const curl = useCurl()
  const forget = () => queryClient.setQueryData(newTokenQuery.queryKey, null)
  // Whoever goes to another page has had it; a page that goes for a moment, while somebody is logged in, has not.
  useEffect(() => {
    const path = location.pathname
    return () => {
      if (location.pathname !== path) queryClient.setQueryData(newTokenQuery.queryKey, null)
    }
  }, [queryClient])
  if (made === null) return null
  return (
    <section
      aria-label="The new token"
      className="grid grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border border-warn/40 bg-warn-tint p-4"
    >
      <p role="status" className="text-warn">
        <strong className="font-semibold">This is the token of {made.name}, shown this once.</strong> Keep it
        in a safe place now: what is stored cannot give it back. Whoever has it acts as {made.name}.
      </p>
      <CopyCommand command={made.token} />
      <p className="text-muted">For the command line and for curl:</p>
      <CopyCommand command={`export ESCAPEMENT_TOKEN=${made.token}`} />
      <CopyCommand command={curl('GET', '/session')} />
      <div>
        <Button onClick={forget}>I have kept it</Button>
      </div>
    </section>
  )
}
