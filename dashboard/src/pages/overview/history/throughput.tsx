import { Chart, LegendItem } from '../chart/chart.tsx'
import { countTicks, roundUp, stackOf } from '../chart/geometry.ts'
import { timeTicks } from '../chart/time-ticks.ts'
import type { HistoryChartProps } from './history.tsx'
import { throughputInAll, throughputOf, whenOf } from './words.ts'

/** How many runs ended, and how. */
export function Throughput({ span, from, points, at, onLook }: HistoryChartProps) {
  const top = roundUp(Math.max(...points.map(({ ended }) => ended)))
  const say = (index: number) => `${whenOf(points[index]!, span)}: ${throughputOf(points[index]!)}`
  const inAll = throughputInAll(points, span) ?? `No run ended in the ${span.words}`
  return (
    <Chart
      title={`Throughput: runs in ${span.bucketWords}`}
      label={`Throughput in the ${span.words}: ${inAll}.`}
      readout={at === null ? `${inAll}.` : `${say(at)}.`}
      sayPoint={say}
      points={points.length}
      at={at}
      onLook={onLook}
      rows={countTicks(top)}
      columns={timeTicks(span, from)}
      legend={
        <>
          <LegendItem swatch="h-2 bg-accent/75">succeeded</LegendItem>
          <LegendItem swatch="h-2 bg-edge">cancelled, skipped</LegendItem>
          <LegendItem swatch="h-2 bg-bad">failed</LegendItem>
        </>
      }
    >
      {points.map(({ from: begins, succeeded, others, failed }, index) => {
        const bars = stackOf([succeeded, others, failed], top)
        return bars.map(({ y, height }, place) =>
          height === 0 ? null : (
            <rect
              key={`${begins.getTime()} ${COLOURS[place]}`}
              x={index + 0.12}
              y={y}
              width={0.76}
              height={height}
              className={COLOURS[place]}
            />
          ),
        )
      })}
    </Chart>
  )
}

const COLOURS = ['fill-accent/75', 'fill-edge', 'fill-bad'] as const
