import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Terminal } from '../../parts/terminal.tsx'
import { useCurl } from '../../parts/use-curl.ts'
import { count } from '../../time/format.ts'
import { AuditResult } from './audit-result.tsx'
import { type AuditProgress, runAudit } from './run-audit.ts'

/** Computes all plan times anew when somebody asks, and shows what does not agree with the ledger. */
export function Audit() {
  const [progress, setProgress] = useState<AuditProgress>()
  const curl = useCurl()
  const running = useRef<AbortController>(null)
  // Whoever leaves does not wait for it any more, and neither should the server.
  useEffect(() => () => running.current?.abort(), [])
  const audit = useMutation({
    mutationFn() {
      setProgress(undefined)
      running.current = new AbortController()
      return runAudit(setProgress, running.current.signal)
    },
  })
  const wasStopped = running.current?.signal.aborted === true
  return (
    <Card title="Every occurrence has one answer">
      <div className="grid gap-3 p-4">
        <p className="max-w-3xl text-muted">
          The plan times of every schedule are computed anew, version by version, and compared with what was
          recorded. It changes nothing; a million schedules take a while.
        </p>
        {audit.isPending ? (
          <div className="flex flex-wrap items-center gap-3">
            <progress
              aria-label="Auditing schedules"
              className="h-2 w-60 max-w-full accent-accent"
              max={Math.max(progress?.total ?? 1, 1)}
              value={progress?.done ?? 0}
            />
            <span className="text-muted tabular-nums">
              {progress ? `${count(progress.done)} of ${count(progress.total)} schedules` : 'Beginning…'}
            </span>
            <Button onClick={() => running.current?.abort()}>Stop</Button>
          </div>
        ) : (
          <div className="flex flex-wrap items-center gap-3">
            <Button kind="main" onClick={() => audit.mutate()}>
              {audit.data ? 'Audit again' : 'Audit now'}
            </Button>
            {wasStopped && <span className="text-muted">Stopped.</span>}
          </div>
        )}
        {!wasStopped && <Failure error={audit.error} what="Not audited." />}
        <Terminal command="escapement audit" curl={curl('GET', '/audit')} />
      </div>
      {audit.data && <AuditResult report={audit.data} />}
    </Card>
  )
}
