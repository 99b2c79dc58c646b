import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../api/client.ts'
import { claimingQuery } from '../api/queries.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'

export function ResumeClaiming() {
  const queryClient = useQueryClient()
  const resume = useMutation({
    mutationFn: () => client.claiming.set({ paused: false }),
    onSuccess: (claiming) => queryClient.setQueryData(claimingQuery.queryKey, claiming),
  })
  return (
    <div className="flex flex-wrap items-center gap-2">
      {resume.error && <Failure error={resume.error} />}
      <Button disabled={resume.isPending} onClick={() => resume.mutate()}>
        Resume claiming
      </Button>
    </div>
  )
}
