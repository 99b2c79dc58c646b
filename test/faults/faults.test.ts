import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { copyOfDist } from './dist-copy.js'
import { FAULTS, faultsWith } from './faults.js'
import { type OrdealSettings, runOrdeal } from './ordeal.js'
import { CONTROL, PLANTED, plant, seenOf } from './planted.js'
import { POINTS } from './points.js'
import { COMMIT } from './proxy.js'
import { tableOf } from './table.js'

const dist = fileURLToPath(new URL('../../dist', import.meta.url))
const isLong = process.env.ESCAPEMENT_TEST_LONG !== undefined
// The short one takes a minute, with the calm after it and the time in which everything comes to rest.
const { seconds, kills, restarts } = isLong
  ? { seconds: 3_600, kills: 1_000, restarts: 50 }
  : { seconds: 34, kills: 0, restarts: 0 }
const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000)

function settingsOf(library: string): OrdealSettings {
  const other = copyOfDist(dist, { version: '9.9.9-deployed' })
  onTestFinished(() => other.remove())
  return {
    seconds,
    seed,
    nodes: 3,
    kills,
    restarts,
    hasSmallDisk: false,
    // Others are at work on this machine; more than this would leave nothing that could be called late.
    patience: 2,
    dist: library,
    otherDist: other.dist,
    folder: fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-faults-')),
    kinds: Object.keys(FAULTS),
    onProgress() {},
  }
}

it(
  `loses nothing and doubles nothing through ${seconds} s of faults of all kinds`,
  async () => {
    const settings = settingsOf(dist)
    const lines: string[] = []
    const report = await runOrdeal({ ...settings, onProgress: (line) => void lines.push(line) })
    // A run that finds something is kept, outside of what the tests throw away.
    const kept = report.findings.length === 0 ? settings.folder : path.resolve(`escapement-faults-${seed}`)
    if (kept !== settings.folder) fs.cpSync(settings.folder, kept, { recursive: true })
    console.log(tableOf(report, { seed, folder: kept }))
    expect(report.findings, lines.join('\n')).toEqual([])
    expect(report.occurrences.runs).toBeGreaterThan(seconds)
    expect(report.counts.kills).toBeGreaterThanOrEqual(kills)
    expect(report.counts.restarts).toBeGreaterThanOrEqual(restarts)
    expect(report.occurrences.inPeace).toBeGreaterThan(0)
    expect(report.starts.inPeace).toBeGreaterThan(0)
    // Kills, restarts and others: how many kinds so short a time has room for, the machine decides.
    expect(report.faults.size).toBeGreaterThanOrEqual(3)
  },
  (seconds + 540) * 1000,
)

it('the points at which processes are killed are statements of the library', () => {
  const folder = path.join(dist, 'store', 'queries')
  const texts = fs.readdirSync(folder).map((file) => fs.readFileSync(path.join(folder, file), 'utf8'))
  for (const [point, text] of Object.entries(POINTS)) {
    if (text === COMMIT) continue
    expect(
      texts.some((source) => source.includes(text)),
      point,
    ).toBe(true)
  }
})

const calm = { seconds: 30, kills: 0, restarts: 0, patience: 1 }

if (isLong) {
  it('nothing is found where nothing is planted, under the faults under which defects are', async () => {
    const kinds = CONTROL.faults.flatMap((part) => faultsWith(part))
    const { findings } = await runOrdeal({ ...settingsOf(dist), ...calm, kinds })
    expect(findings).toEqual([])
  }, 600_000)
}

for (const bug of PLANTED) {
  it(`a planted defect can be planted${isLong ? ', and is seen for what it is' : ''}: ${bug.name}`, async () => {
    const copy = copyOfDist(dist, { version: '0.0.0-planted' })
    onTestFinished(() => copy.remove())
    expect(() => plant(copy, bug)).not.toThrow()
    const kinds = bug.faults.flatMap((part) => faultsWith(part))
    expect(kinds.length).toBeGreaterThanOrEqual(bug.faults.length)
    if (!isLong) return
    const { findings } = await runOrdeal({ ...settingsOf(copy.dist), ...calm, kinds })
    expect(seenOf(bug, findings), JSON.stringify(findings.slice(0, 20))).not.toEqual([])
  }, 600_000)
}
