import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import type { ServerEvent } from '../../../src/http-client/index.js'
import { client, EscapementError } from './client.ts'
import { coalesce } from './coalesce.ts'

export type LiveState = 'connecting' | 'live' | 'reconnecting'

const LiveContext = createContext<LiveState>('connecting')
export const useLive = () => useContext(LiveContext)

/** What an event makes old: first words of keys. */
function renewedBy({ name }: ServerEvent): readonly string[] {
  if (name === 'resync') return ['*']
  const [subject] = name.split('.')
  if (subject === 'schedule') return ['schedules', 'stats', 'forecast']
  if (subject === 'run') return name === 'run.progress' ? ['runs'] : ['runs', 'stats', 'queues', 'schedules']
  if (subject === 'worker') return ['workers', 'jobs', 'stats']
  if (subject === 'claiming') return ['claiming', 'stats']
  return ['transitions']
}

/** Hears events while somebody is logged in, and reads again what they have made old. */
export function Live({ children }: { children: ReactNode }) {
  const queryClient = useQueryClient()
  const [state, setState] = useState<LiveState>('connecting')

  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    const coalescer = coalesce<string>(
      (words) =>
        void queryClient.invalidateQueries({
          predicate: ({ queryKey: [what] }) =>
            what !== 'session' && (words.has('*') || words.has(String(what))),
          // Nobody looks: what is old is read when somebody does.
          refetchType: document.hidden ? 'none' : 'active',
        }),
      { soonMs: 150, everyMs: 1_000 },
    )
    async function hear() {
      for await (const event of client.events({ signal, onState: setState })) coalescer.add(renewedBy(event))
    }
    hear().catch((error: unknown) => {
      if (signal.aborted) return
      setState('reconnecting')
      const isUnknown = error instanceof EscapementError && error.code === 'unauthorized'
      if (isUnknown) void queryClient.invalidateQueries({ queryKey: ['session'] })
    })
    return () => {
      leaving.abort()
      coalescer.stop()
    }
  }, [queryClient])

  return <LiveContext value={state}>{children}</LiveContext>
}
