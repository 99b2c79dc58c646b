import path from 'node:path'
import { inEnglish } from '../figures.js'
import { type Chart, writeChart } from '../plot.js'
import type { Sample } from './verdict.js'
import { PASSING, sizeOf } from './watching.js'

export interface Course {
  /** Runs in a second. */
  rate: number
  samples: readonly Sample[]
  /** In minutes since the load is held; so in the others. */
  kills: readonly number[]
  stranger: { from: number; to: number }
}

export function drawCourse(folder: string, course: Course): void {
  writeChart(path.join(folder, 'soak-lateness.svg'), latenessChart(course))
  writeChart(path.join(folder, 'soak-bloat.svg'), bloatChart(course))
  writeChart(path.join(folder, 'soak-sizes.svg'), sizesChart(course))
}

function latenessChart(course: Course): Chart {
  const { rate, samples } = course
  const late = (of: 'p50' | 'p99', nearKill: boolean) =>
    samples.flatMap(({ minute, lateness, isNearKill }) =>
      lateness && isNearKill === nearKill ? [[minute, lateness[of]] as const] : [],
    )
  return {
    title: `How late handlers begin, at ${inEnglish(rate)} runs per second`,
    x: { label: 'minutes' },
    y: { label: 'milliseconds after they might', isLog: true },
    series: [
      { name: 'p50', points: late('p50', false), dots: late('p50', true) },
      { name: 'p99', points: late('p99', false), dots: late('p99', true) },
    ],
    ...circumstances(course),
  }
}

function bloatChart(course: Course): Chart {
  return {
    title: `Dead rows, at ${inEnglish(course.rate)} runs per second`,
    x: { label: 'minutes' },
    y: { label: 'dead rows', isLog: true },
    series: PASSING.map((table) => ({
      name: table,
      points: course.samples.map(({ minute, tables }) => [minute, Math.max(1, tables[table].dead)] as const),
    })),
    ...circumstances(course),
  }
}

function sizesChart(course: Course): Chart {
  return {
    title: `Sizes with indexes, at ${inEnglish(course.rate)} runs per second`,
    x: { label: 'minutes' },
    y: { label: 'megabytes' },
    series: PASSING.map((table) => ({
      name: table,
      points: course.samples.map(({ minute, tables }) => [minute, sizeOf(tables[table]) / 2 ** 20] as const),
    })),
    ...circumstances(course),
  }
}

function circumstances({ kills, stranger }: Course): Pick<Chart, 'band' | 'marks'> {
  return {
    band: { name: 'a stranger’s transaction is open', ...stranger },
    marks: { name: 'a process is killed', at: kills },
  }
}
