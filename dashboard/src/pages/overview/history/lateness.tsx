import { span as duration } from '../../../time/relative.ts'
import { Chart, LegendItem } from '../chart/chart.tsx'
import { heightOf, lineOf, stepsUpTo } from '../chart/geometry.ts'
import { timeTicks } from '../chart/time-ticks.ts'
import type { HistoryChartProps } from './history.tsx'
import { latenessInAll, latenessOf, whenOf } from './words.ts'

/** The worst first, so that the median lies over it. Told apart by their strokes as well as by their colours. */
const LINES = [
  { which: 'p99', stroke: 'stroke-bad', dash: '3 3', width: 1.5 },
  { which: 'p95', stroke: 'stroke-warn', dash: undefined, width: 1.5 },
  { which: 'p50', stroke: 'stroke-accent', dash: undefined, width: 2.5 },
] as const

/** How long after they were due runs started; each line of the grid is about ten times the one below. */
export function LatenessChart({ span, from, points, at, onLook }: HistoryChartProps) {
  const steps = stepsUpTo(Math.max(...points.map(({ lateness }) => lateness?.p99 ?? 0)))
  const say = (index: number) => `${whenOf(points[index]!, span)}: ${latenessOf(points[index]!.lateness)}`
  const inAll = latenessInAll(points, span) ?? `No run started in the ${span.words}`
  return (
    <Chart
      title="Lateness of starts"
      label={`Lateness in the ${span.words}: ${inAll}.`}
      readout={at === null ? `${inAll}.` : `${say(at)}.`}
      sayPoint={say}
      points={points.length}
      at={at}
      onLook={onLook}
      rows={steps.map((step, index) => ({ place: index / (steps.length - 1), label: duration(step) }))}
      columns={timeTicks(span, from)}
      legend={
        <>
          <LegendItem swatch="border-accent border-t-[3px]">median</LegendItem>
          <LegendItem swatch="border-warn border-t-2">95 %</LegendItem>
          <LegendItem swatch="border-bad border-t-2 border-dashed">99 %</LegendItem>
        </>
      }
    >
      {LINES.map(({ which, stroke, dash, width }) => (
        <path
          key={which}
          d={lineOf(points.map(({ lateness }) => (lateness ? heightOf(lateness[which], steps) : null)))}
          className={`fill-none ${stroke}`}
          strokeWidth={width}
          strokeDasharray={dash}
          strokeLinecap="round"
          strokeLinejoin="round"
          vectorEffect="non-scaling-stroke"
        />
      ))}
    </Chart>
  )
}
