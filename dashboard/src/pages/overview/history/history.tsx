import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { Card } from '../../../parts/card.tsx'
import { Loaded } from '../../../parts/loaded.tsx'
import { HistoryTable } from './history-table.tsx'
import { LatenessChart } from './lateness.tsx'
import { NothingCounted } from './nothing-counted.tsx'
import type { Point } from './points.ts'
import { historyQuery } from './queries.ts'
import { SpanSwitch } from './span-switch.tsx'
import { type Span, spanOf } from './spans.ts'
import { Throughput } from './throughput.tsx'

export interface HistoryChartProps {
  span: Span
  from: number
  points: readonly Point[]
  /** The point that is looked at: the same in both charts. */
  at: number | null
  onLook: (index: number | null) => void
}

/** How many runs ended, and how late they started, in the last hour, day or week. */
export function History() {
  const [params] = useSearchParams()
  const span = spanOf(params.get('span'))
  const [at, setAt] = useState<number | null>(null)
  const query = useQuery(historyQuery(span))
  return (
    <Card title="Over time" aside={<SpanSwitch span={span} />}>
      <Loaded query={query}>
        {({ points, ...shown }) => {
          if (points.every(({ ended, lateness }) => ended === 0 && lateness === null)) {
            return <NothingCounted span={shown.span} />
          }
          const chart = { ...shown, points, at: at === null || at < points.length ? at : null, onLook: setAt }
          return (
            <>
              <div className="grid grid-cols-[minmax(0,1fr)] lg:grid-cols-[repeat(2,minmax(0,1fr))]">
                <Throughput {...chart} />
                <LatenessChart {...chart} />
              </div>
              <HistoryTable points={points} span={shown.span} />
            </>
          )
        }}
      </Loaded>
    </Card>
  )
}
