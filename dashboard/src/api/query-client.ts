import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { EscapementError } from './client.ts'

/** Whether it would be the same the next time. */
function isFinal(error: Error): boolean {
  return error instanceof EscapementError && Number(error.details.status) < 500
}

/** Whoever is no longer known is asked to log in again: a session has an end, and a token can be revoked. */
function noteUnauthorized(error: Error): void {
  // Where nobody was known, the page that asks for a token is there already.
  if (queryClient.getQueryData(['session']) === undefined) return
  if (error instanceof EscapementError && error.code === 'unauthorized') {
    void queryClient.invalidateQueries({ queryKey: ['session'] })
  }
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey: [what] }) => what !== 'session' && noteUnauthorized(error),
  }),
  mutationCache: new MutationCache({ onError: noteUnauthorized }),
  defaultOptions: {
    queries: { retry: (count, error) => !isFinal(error) && count < 2, staleTime: 2_000 },
  },
})
