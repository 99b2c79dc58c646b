import { QueryClientProvider, useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { Route, Router, Switch, useLocation } from 'wouter'
import { basePath, EscapementError } from './api/client.ts'
import { Live } from './api/live.tsx'
import { sessionQuery } from './api/queries.ts'
import { queryClient } from './api/query-client.ts'
import { LoginPage } from './pages/login-page.tsx'
import { NotFoundPage } from './pages/not-found-page.tsx'
import { OfAllPage } from './pages/of-all-page.tsx'
import { PAGES } from './pages/pages.ts'
import { UnreachablePage } from './pages/unreachable-page.tsx'
import { Mishap } from './shell/mishap.tsx'
import { Shell } from './shell/shell.tsx'

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Router base={basePath}>
        <Views />
      </Router>
    </QueryClientProvider>
  )
}

/** The address stays as it is while somebody logs in: they come to where they wanted to go. */
function Views() {
  const { data: session, error, isPending, refetch } = useQuery(sessionQuery)
  const [view] = useLocation()
  if (error instanceof EscapementError && error.code === 'unauthorized') {
    return <LoginPage hasEnded={session !== undefined} />
  }
  if (session === undefined) return isPending ? null : <UnreachablePage error={error} onRetry={refetch} />
  return (
    <Live>
      <Shell session={session}>
        <Mishap key={view}>
          <Suspense>
            <Switch>
              {PAGES.map(({ path, page, isOfAll }) => (
                <Route
                  key={path}
                  path={path}
                  component={isOfAll && session.group !== null ? OfAllPage : page}
                />
              ))}
              <Route component={NotFoundPage} />
            </Switch>
          </Suspense>
        </Mishap>
      </Shell>
    </Live>
  )
}
