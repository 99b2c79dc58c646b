import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client, keepCsrfToken } from '../../api/client.ts'
import { sessionQuery } from '../../api/queries.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { inputStyle } from '../../parts/field.tsx'
import { Labelled } from '../../parts/labelled.tsx'
import { Terminal } from '../../parts/terminal.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import { useNow } from '../../time/use-now.ts'
import { newTokenQuery } from './queries.ts'
import {
  commandOf,
  LIFETIMES,
  type Lifetime,
  ROLE_WORDS,
  ROLES,
  type Role,
  requestOf,
  type TokenForm,
} from './token-form.ts'

const EMPTY: TokenForm = { name: '', role: 'operator', group: '', lifetime: '' }
/** Anything less, and nobody could make another. */
const FIRST: TokenForm = { ...EMPTY, role: 'admin' }

/** Asks who it is for and what it may do, and makes it. */
export function MakeToken() {
  const queryClient = useQueryClient()
  const isFirst = useQuery(sessionQuery).data?.via === 'local'
  const empty = isFirst ? FIRST : EMPTY
  const [form, setForm] = useState(empty)
  const set = (change: Partial<TokenForm>) => setForm({ ...form, ...change })
  const curl = useCurl()
  const now = useNow()

  async function make() {
    const made = await client.tokens.create(requestOf(form, new Date()))
    queryClient.setQueryData(newTokenQuery.queryKey, made)
    if (!isFirst) return
    // From now on this machine is a stranger too.
    const session = await client.openSession(made.token)
    keepCsrfToken(session.csrfToken)
    queryClient.setQueryData(sessionQuery.queryKey, session)
  }

  return (
    <ActionDialog
      opener="Make a token…"
      title={isFirst ? 'Make the first token' : 'Make a token'}
      verb="Make it"
      action={make}
      renews={['tokens']}
      onOpen={() => setForm(empty)}
      isDisabled={form.name.trim() === ''}
    >
      {isFirst && (
        <p className="rounded-md bg-warn-tint px-3 py-2 text-warn">
          From the first token on everybody must log in with one, on this machine too, whatever becomes of it.
          So the first is one of an admin for all groups, and you are logged in with it.
        </p>
      )}
      <Labelled label="Name" help="Who or what uses it. What is done with it is noted under this name.">
        {(ids) => (
          <input
            {...ids}
            className={inputStyle}
            maxLength={200}
            required
            autoComplete="off"
            placeholder={isFirst ? 'alice' : 'ci'}
            value={form.name}
            onChange={({ target }) => set({ name: target.value })}
          />
        )}
      </Labelled>
      {!isFirst && (
        <>
          <Labelled label="Role" help={ROLE_WORDS[form.role]}>
            {(ids) => (
              <select
                {...ids}
                className={inputStyle}
                value={form.role}
                onChange={({ target }) => set({ role: target.value as Role })}
              >
                {ROLES.map((role) => (
                  <option key={role}>{role}</option>
                ))}
              </select>
            )}
          </Labelled>
          <Labelled
            label="Group"
            help="With one, it sees and touches the schedules of this group and their runs alone. Empty for all."
          >
            {(ids) => (
              <input
                {...ids}
                className={inputStyle}
                maxLength={200}
                autoComplete="off"
                placeholder="All"
                value={form.group}
                onChange={({ target }) => set({ group: target.value })}
              />
            )}
          </Labelled>
        </>
      )}
      <Labelled label="Lasts">
        {(ids) => (
          <select
            {...ids}
            className={inputStyle}
            value={form.lifetime}
            onChange={({ target }) => set({ lifetime: target.value as Lifetime })}
          >
            {LIFETIMES.map((lifetime) => (
              <option key={lifetime} value={lifetime}>
                {lifetime === '' ? 'until it is revoked' : lifetime}
              </option>
            ))}
          </select>
        )}
      </Labelled>
      <Terminal
        command={commandOf(form)}
        curl={curl('POST', '/tokens', requestOf({ ...form, name: form.name || 'me' }, now))}
      />
    </ActionDialog>
  )
}
