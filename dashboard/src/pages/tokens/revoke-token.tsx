import { useQuery } from '@tanstack/react-query'
import { client } from '../../api/client.ts'
import { sessionQuery } from '../../api/queries.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { Terminal } from '../../parts/terminal.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import type { Token } from './queries.ts'

/** Takes a token away, after a question. */
export function RevokeToken({ token: { id, name } }: { token: Token }) {
  const session = useQuery(sessionQuery).data
  const isPerhapsOwn = session?.via === 'session' && session.name === name
  const curl = useCurl()
  return (
    <ActionDialog
      opener="Revoke…"
      title={`Revoke the token of ${name}`}
      verb="Revoke it"
      kind="danger"
      action={() => client.tokens.revoke(id)}
      renews={['tokens']}
    >
      <p className="text-muted">
        From now on it opens nothing, and all sessions of the dashboard that were opened with it end. It
        cannot be taken back.
      </p>
      {isPerhapsOwn && (
        <p className="text-warn">
          You are logged in as {name}: if it is with this token, you will be asked for another.
        </p>
      )}
      <Terminal command={`escapement tokens revoke ${id}`} curl={curl('DELETE', `/tokens/${id}`)} />
    </ActionDialog>
  )
}
