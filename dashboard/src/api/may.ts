import { useQuery } from '@tanstack/react-query'
import type { Session } from './client.ts'
import { sessionQuery } from './queries.ts'

const RANK: Readonly<Record<Session['role'], number>> = { viewer: 0, operator: 1, admin: 2 }

/** Whether whoever is logged in has that role. The server decides; this only spares people what it would refuse. */
export function useMay(role: Session['role']): boolean {
  const { data } = useQuery(sessionQuery)
  return data !== undefined && RANK[data.role] >= RANK[role]
}

/** Whether they may see what is of all groups: figures, queues, workers. */
export function useSeesAll(): boolean {
  const { data } = useQuery(sessionQuery)
  return data?.group === null
}
