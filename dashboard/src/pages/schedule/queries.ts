import { queryOptions } from '@tanstack/react-query'
import { client } from '../../api/client.ts'

const NOW_AND_THEN_MS = 15_000

export const scheduleQuery = (name: string) =>
  queryOptions({
    queryKey: ['schedules', 'one', name],
    queryFn: ({ signal }) => client.schedules.get(name, { signal }),
    refetchInterval: NOW_AND_THEN_MS,
  })
