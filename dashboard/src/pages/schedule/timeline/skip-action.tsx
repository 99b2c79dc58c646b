import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../../../api/client.ts'
import { Button } from '../../../parts/button.tsx'
import { Failure } from '../../../parts/failure.tsx'
import { shellWord } from '../../../parts/quoted.ts'
import { Terminal } from '../../../parts/terminal.tsx'
import { useCurl } from '../../../parts/use-curl.ts'
import { apiPath } from '../verbs/verb.ts'
import type { Timeline } from './kinds.ts'
import { timelineKey, withWish } from './queries.ts'

export interface SkipActionProps {
  name: string
  planTime: string
  /** What can be wished of it now; nothing once it is decided. */
  verb: 'skip' | 'unskip' | undefined
}

/** Wishes a plan time away, or takes that back. It shows at once; what the server refuses is told, and what it says counts. */
export function SkipAction({ name, planTime, verb }: SkipActionProps) {
  const queryClient = useQueryClient()
  const curl = useCurl()
  const wish = useMutation({
    mutationFn: (wished: 'skip' | 'unskip') => client.schedules[wished](name, planTime),
    async onMutate(wished) {
      const filter = { queryKey: timelineKey(name) }
      // An answer that was asked for before would undo it on the screen.
      await queryClient.cancelQueries(filter)
      queryClient.setQueriesData<Timeline>(filter, (last) => last && withWish(last, planTime, wished))
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['schedules'] }),
  })
  if (verb === undefined && wish.error === null) return null
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <Failure error={wish.error} what="Not done:" />
      {verb !== undefined && (
        <>
          <div>
            {/* Not `disabled`, which would take the focus from it. */}
            <Button aria-disabled={wish.isPending} onClick={() => wish.isPending || wish.mutate(verb)}>
              {verb === 'skip' ? 'Skip' : 'Do not skip'}
            </Button>
          </div>
          <Terminal
            command={`escapement schedules ${verb} ${shellWord(name)} ${planTime}`}
            curl={curl('POST', apiPath(name, `/${verb}`), { planTime })}
          />
        </>
      )}
    </div>
  )
}
