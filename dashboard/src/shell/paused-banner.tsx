import { useQuery } from '@tanstack/react-query'
import { useMay, useSeesAll } from '../api/may.ts'
import { claimingQuery } from '../api/queries.ts'
import { ResumeClaiming } from '../claiming/resume-claiming.tsx'
import { Moment } from '../time/moment.tsx'

/** On every page while nothing is begun, since nothing else explains what people then see. */
export function PausedBanner() {
  const { data } = useQuery({ ...claimingQuery, enabled: useSeesAll() })
  const mayAct = useMay('operator')
  if (!data?.paused) return null
  return (
    <div
      role="status"
      className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-warn/40 border-b bg-warn-tint px-4 py-2 text-warn sm:px-6"
    >
      <p className="min-w-0 break-words">
        <strong className="font-semibold">Claiming is paused: no run is begun.</strong>{' '}
        {data.reason !== null && <>“{data.reason}” </>}
        {data.by !== null && <>by {data.by} </>}
        {data.since !== null && <Moment at={data.since} />}
      </p>
      {mayAct && <ResumeClaiming />}
    </div>
  )
}
