import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../api/client.ts'
import { transitionsQuery } from '../../api/queries.ts'
import { Button } from '../../parts/button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Terminal } from '../../parts/terminal.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import { SweepResult } from './sweep-result.tsx'

/** Changes what is due without waiting for the sweeper, and says what came of it. */
export function Sweep({ hasQuarantined }: { hasQuarantined: boolean }) {
  const queryClient = useQueryClient()
  const [withQuarantined, setWithQuarantined] = useState(false)
  const body = { quarantined: hasQuarantined && withQuarantined }
  const curl = useCurl()
  const sweep = useMutation({
    mutationFn: () => client.transitions.sweep(body),
    onSettled: () => queryClient.invalidateQueries({ queryKey: transitionsQuery.queryKey }),
  })
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button disabled={sweep.isPending} onClick={() => sweep.mutate()}>
          {sweep.isPending ? 'Sweeping…' : 'Sweep now'}
        </Button>
        {hasQuarantined && (
          <label className="flex items-center gap-2">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={withQuarantined}
              onChange={({ target }) => setWithQuarantined(target.checked)}
            />
            Also try again what was set aside
          </label>
        )}
      </div>
      <Failure error={sweep.error} what="Not swept." />
      <Terminal
        command={`escapement sweep${body.quarantined ? ' --quarantined' : ''}`}
        curl={curl('POST', '/transitions/sweep', body)}
      />
      {sweep.data && <SweepResult report={sweep.data} />}
    </>
  )
}
