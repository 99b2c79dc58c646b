import { useState } from 'react'
import { clockTime, count } from '../../time/format.ts'
import { Chart } from './chart/chart.tsx'
import { countTicks, roundUp, stackOf } from './chart/geometry.ts'
import { timeTicks } from './chart/time-ticks.ts'
import type { HerdMinute } from './herd-minutes.ts'
import { SPANS } from './history/spans.ts'

/** One bar for each minute. */
export function HerdChart({ minutes, words }: { minutes: readonly HerdMinute[]; words: string }) {
  const [at, setAt] = useState<number | null>(null)
  const top = roundUp(Math.max(...minutes.map(({ runs }) => runs)))
  const say = (index: number) => {
    const { from, runs } = minutes[index]!
    return `${clockTime(from)}: ${count(runs)} ${runs === 1 ? 'run' : 'runs'}`
  }
  return (
    <Chart
      title="Forecast: runs in a minute"
      label={`Runs in the next hour: ${words}.`}
      readout={at === null ? `${words}.` : `${say(at)}.`}
      sayPoint={say}
      points={minutes.length}
      at={at}
      onLook={setAt}
      rows={countTicks(top)}
      columns={timeTicks(SPANS[0], minutes[0]!.from.getTime())}
    >
      {minutes.map(({ from, runs }, index) => {
        const [bar] = stackOf([runs], top)
        return (
          <rect
            key={from.getTime()}
            x={index + 0.12}
            y={bar!.y}
            width={0.76}
            height={bar!.height}
            className="fill-accent/75"
          />
        )
      })}
    </Chart>
  )
}
