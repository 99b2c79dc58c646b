import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../../../api/client.ts'
import { Button } from '../../../parts/button.tsx'
import { RENEWS, refusing, type VerbProps } from './verb.ts'

/** At once: it is what is hoped for, and can be taken back. */
export function Resume({ schedule: { name }, tell }: VerbProps) {
  const queryClient = useQueryClient()
  const told = refusing(tell, 'Resume')
  const resume = useMutation({
    mutationFn: () => client.schedules.resume(name),
    onMutate: () => told(null),
    onError: told,
    onSettled: () =>
      queryClient.invalidateQueries({
        predicate: ({ queryKey: [what] }) => RENEWS.some((word) => word === what),
      }),
  })
  return (
    <Button kind="main" disabled={resume.isPending} onClick={() => resume.mutate()}>
      Resume
    </Button>
  )
}
