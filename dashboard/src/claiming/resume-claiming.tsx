import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from '../api/client.ts'
import { claimingQuery } from '../api/queries.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Terminal } from '../parts/terminal.tsx'
import { useCurl } from '../parts/use-curl.ts'

const BODY = { paused: false }

export function ResumeClaiming() {
  const queryClient = useQueryClient()
  const curl = useCurl()
  const resume = useMutation({
    mutationFn: () => client.claiming.set(BODY),
    onSuccess: (claiming) => queryClient.setQueryData(claimingQuery.queryKey, claiming),
  })
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-2">
      {resume.error && <Failure error={resume.error} />}
      <Terminal command="escapement claiming resume" curl={curl('POST', '/claiming', BODY)} />
      <Button disabled={resume.isPending} onClick={() => resume.mutate()}>
        Resume claiming
      </Button>
    </div>
  )
}
