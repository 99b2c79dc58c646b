import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { EscapementError } from './client.ts'

/** Whether it would be the same the next time: it was refused, or could not even be sent. */
function isFinal(error: Error): boolean {
  if (!(error instanceof EscapementError)) return false
  const { status } = error.details
  return status === undefined ? error.code !== 'server_unreachable' : Number(status) < 500
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
    // A browser that calls itself offline still reaches a server on its own machine. And what somebody has asked for must
    // not wait unseen, to be done when the network is back.
    queries: {
      retry: (count, error) => !isFinal(error) && count < 2,
      staleTime: 2_000,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})
