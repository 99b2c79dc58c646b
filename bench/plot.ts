/** Charts as SVG, drawn by hand: lines and dots, on a white ground of their own, so that they can be read in the dark too. */
import fs from 'node:fs'
import path from 'node:path'
import { inEnglish } from './figures.js'

type Point = readonly [x: number, y: number]

interface Series {
  name: string
  /** Joined by a line. */
  points: readonly Point[]
  /** Single measurements beside the line, drawn faintly. */
  dots?: readonly Point[]
}

interface Axis {
  /** What it shows, with its unit. */
  label: string
  /** Every decade is of the same length; what is below the first is drawn at its foot. */
  isLog?: boolean
}

export interface Chart {
  title: string
  x: Axis
  y: Axis
  series: readonly Series[]
  /** A span of x in which something else was so. */
  band?: { name: string; from: number; to: number }
  /** Where on x something happened: small triangles at the foot. */
  marks?: { name: string; at: readonly number[] }
}

const [WIDTH, HEIGHT] = [900, 440]
const [LEFT, RIGHT, TOP, BOTTOM] = [88, 850, 100, 384]
const FONT = 'system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif'
const INK = { text: '#1f2328', faint: '#59636e', grid: '#e4e8ec', axis: '#8c959f', band: '#ffe8bd' }
/** Told apart by the colour-blind too. */
const COLOURS = ['#0b6bb5', '#d1590b', '#1a8a66', '#8457b8', '#b0851a', '#c2437e']
/** More points than these are a line and nothing else. */
const MOST_MARKERS = 40

export function writeChart(file: string, chart: Chart): void {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, drawChart(chart))
}

export function drawChart(chart: Chart): string {
  const { title, x, y, series, band, marks } = chart
  const all = series.flatMap(({ points, dots = [] }) => [...points, ...dots])
  const across = scaleOf(
    x,
    all.map(([value]) => value),
  )
  const up = scaleOf(
    y,
    all.map(([, value]) => value),
  )
  const left = (value: number) => LEFT + across.share(value) * (RIGHT - LEFT)
  const top = (value: number) => BOTTOM - up.share(value) * (BOTTOM - TOP)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="${FONT}" role="img">`,
    `<title>${escaped(title)}</title>`,
    box(0, 0, WIDTH, HEIGHT, '#fff'),
    band ? box(left(band.from), TOP, left(band.to) - left(band.from), BOTTOM - TOP, INK.band) : '',
    ...up.ticks.flatMap((tick) => [
      line(LEFT, top(tick), RIGHT, top(tick), INK.grid),
      text(LEFT - 10, top(tick) + 4, inEnglish(tick, 3), { anchor: 'end' }),
    ]),
    ...across.ticks.flatMap((tick) => [
      line(left(tick), BOTTOM, left(tick), BOTTOM + 5, INK.axis),
      text(left(tick), BOTTOM + 21, inEnglish(tick, 3), { anchor: 'middle' }),
    ]),
    line(LEFT, BOTTOM, RIGHT, BOTTOM, INK.axis),
    ...(marks?.at ?? []).map((at) => triangle(left(at), BOTTOM)),
    ...series.flatMap(({ points, dots = [] }, index) => [
      ...dots.map(([px, py]) => dot(left(px), top(py), index)),
      `<polyline points="${points.map(([px, py]) => `${round(left(px))},${round(top(py))}`).join(' ')}" fill="none" stroke="${colourOf(index)}" stroke-width="2" stroke-linejoin="round"/>`,
      ...(points.length > MOST_MARKERS ? [] : points).map(([px, py]) => marker(left(px), top(py), index)),
    ]),
    text(LEFT, 32, title, { size: 17, weight: 600 }),
    ...legend(chart),
    text(LEFT, TOP - 14, y.label, { fill: INK.faint }),
    text(RIGHT, HEIGHT - 14, x.label, { anchor: 'end', fill: INK.faint }),
    '</svg>\n',
  ].join('\n')
}

/** One row under the title: a sign and a name each. */
function legend({ series, band, marks }: Chart): string[] {
  const entries = series.map(({ name, points }, index) => ({
    name,
    sign: (at: number) =>
      points.length > 0 ? line(at, 54, at + 20, 54, colourOf(index), 3) : dot(at + 12, 54, index),
  }))
  if (band) entries.push({ name: band.name, sign: (at) => box(at, 47, 20, 14, INK.band) })
  if (marks) entries.push({ name: marks.name, sign: (at) => triangle(at + 12, 59) })
  let at = LEFT
  return entries.flatMap(({ name, sign }) => {
    const start = at
    at += 48 + name.length * 7
    return [sign(start), text(start + 26, 58, name)]
  })
}

/** Where between the first tick and the last a value lies, from 0 to 1. */
function scaleOf({ isLog = false }: Axis, values: readonly number[]) {
  const ticks = isLog ? logTicks(values) : ticksOf(values)
  const measure = (value: number) => (isLog ? Math.log10(Math.max(value, ticks[0]!)) : value)
  const [low, high] = [measure(ticks[0]!), measure(ticks.at(-1)!)]
  return { ticks, share: (value: number) => (measure(value) - low) / (high - low) }
}

/** From 0 on, as what begins elsewhere makes a little look like much; four to seven steps. */
function ticksOf(values: readonly number[]): number[] {
  const most = Math.max(...values, 1e-9)
  const power = 10 ** Math.floor(Math.log10(most / 4))
  const step = [1, 2, 2.5, 5, 10].map((part) => part * power).find((part) => most / part <= 7)!
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, index) => index * step)
}

function logTicks(values: readonly number[]): number[] {
  const exponents = values.filter((value) => value > 0).map(Math.log10)
  const low = Math.floor(Math.min(...exponents, 9))
  const high = Math.max(low + 1, Math.ceil(Math.max(...exponents, low)))
  return Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index))
}

function text(x: number, y: number, content: string, style: Partial<typeof PLAIN> = {}): string {
  const { anchor, fill, size, weight } = { ...PLAIN, ...style }
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" font-size="${size}" font-weight="${weight}" fill="${fill}">${escaped(content)}</text>`
}
const PLAIN = { anchor: 'start', fill: INK.text, size: 13, weight: 400 }

const line = (x1: number, y1: number, x2: number, y2: number, colour: string, width = 1) =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${colour}" stroke-width="${width}"/>`
const box = (x: number, y: number, width: number, height: number, colour: string) =>
  `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${colour}"/>`
const dot = (x: number, y: number, index: number) =>
  `<circle cx="${round(x)}" cy="${round(y)}" r="3" fill="${colourOf(index)}" fill-opacity="0.35"/>`
const marker = (x: number, y: number, index: number) =>
  `<circle cx="${round(x)}" cy="${round(y)}" r="4" fill="${colourOf(index)}" stroke="#fff" stroke-width="1.5"/>`
const triangle = (x: number, foot: number) =>
  `<path d="M${round(x - 4)} ${foot}h8l-4 -8z" fill="${INK.axis}"/>`
const colourOf = (index: number) => COLOURS[index % COLOURS.length]!
const round = (value: number) => Number(value.toFixed(1))
const escaped = (content: string) => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
