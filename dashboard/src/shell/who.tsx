import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client, keepCsrfToken, type Session } from '../api/client.ts'
import { sessionQuery } from '../api/queries.ts'
import { forgetDrafts } from '../pages/schedule-form/draft.ts'

const HOW: Readonly<Record<Session['via'], string>> = {
  local: 'You are on this machine, and no token was made yet: you may do everything.',
  token: 'By a token that something before us sends.',
  session: 'Logged in with a token.',
  custom: 'The application around Escapement says who you are.',
}

/** Who is logged in, as what, and the way out. */
export function Who({ session: { name, role, group, via } }: { session: Session }) {
  const queryClient = useQueryClient()
  const logout = useMutation({
    mutationFn: () => client.closeSession(),
    async onSettled() {
      keepCsrfToken(null)
      forgetDrafts()
      queryClient.removeQueries({ predicate: ({ queryKey: [what] }) => what !== 'session' })
      await queryClient.resetQueries({ queryKey: sessionQuery.queryKey })
    },
  })
  return (
    <div className="flex min-w-0 items-baseline justify-between gap-3 text-xs">
      <div className="min-w-0 truncate" title={HOW[via]}>
        <span className="font-medium">{name}</span>
        <span className="text-muted">
          {' '}
          · {role}
          {group !== null && ` of ${group}`}
        </span>
      </div>
      {via === 'session' && (
        <button
          type="button"
          disabled={logout.isPending}
          className="shrink-0 text-accent underline-offset-2 hover:underline"
          onClick={() => logout.mutate()}
        >
          Log out
        </button>
      )}
    </div>
  )
}
