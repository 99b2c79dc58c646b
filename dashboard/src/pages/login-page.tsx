import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { client, EscapementError, keepCsrfToken } from '../api/client.ts'
import { sessionQuery } from '../api/queries.ts'
import { Button } from '../parts/button.tsx'
import { CopyCommand } from '../parts/copy-command.tsx'
import { Failure } from '../parts/failure.tsx'
import { inputStyle } from '../parts/field.tsx'
import { useTitle } from '../parts/use-title.ts'
import { Mark } from '../shell/mark.tsx'

/** Where they were somebody a moment ago, it says why they are not any more. */
export function LoginPage({ hasEnded }: { hasEnded: boolean }) {
  useTitle('Log in')
  const queryClient = useQueryClient()
  const id = useId()
  const [token, setToken] = useState('')
  const login = useMutation({
    mutationFn: () => client.openSession(token.trim()),
    onSuccess(session) {
      keepCsrfToken(session.csrfToken)
      queryClient.removeQueries({ predicate: ({ queryKey: [what] }) => what !== 'session' })
      queryClient.setQueryData(sessionQuery.queryKey, session)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    login.mutate()
  }
  return (
    <main className="grid min-h-dvh place-items-center px-4 py-10">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-2.5">
          <Mark className="size-7" />
          <h1 className="text-lg font-semibold tracking-tight">Log in to Escapement</h1>
        </div>
        {hasEnded && (
          <p role="status" className="mb-4 rounded-md bg-warn-tint px-3 py-2 text-warn">
            Your session has ended. Log in again to go on where you were; what you typed into the form of a
            schedule is kept.
          </p>
        )}
        <form onSubmit={submit} className="grid gap-4 rounded-lg border border-line bg-surface p-5">
          <div className="grid gap-1.5">
            <label htmlFor={id} className="font-medium">
              Token
            </label>
            <input
              id={id}
              type="password"
              className={`${inputStyle} font-mono`}
              autoComplete="current-password"
              required
              value={token}
              placeholder="esc_…"
              onChange={({ target }) => setToken(target.value)}
            />
          </div>
          {login.error && <Failure error={inOwnWords(login.error)} />}
          <Button kind="main" type="submit" disabled={login.isPending || token.trim() === ''}>
            {login.isPending ? 'Logging in…' : 'Log in'}
          </Button>
        </form>
        <div className="mt-5 grid gap-2 text-muted">
          <p>No token yet? Whoever runs the server makes one, with the role that you need:</p>
          <CopyCommand command="escapement tokens create me --role operator" />
        </div>
      </div>
    </main>
  )
}

/** The server's own words are for programs. */
function inOwnWords(error: Error): Error {
  const isUnknown = error instanceof EscapementError && error.code === 'unauthorized'
  return isUnknown ? new Error('This token opens nothing: it is mistyped, expired or revoked.') : error
}
