import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { copyOfDist } from './dist-copy.js'
import { FAULTS } from './faults.js'
import { runOrdeal } from './ordeal.js'
import { PLANTED, plant } from './planted.js'
import { POINTS } from './points.js'
import { COMMIT } from './proxy.js'
import { tableOf } from './table.js'

const dist = fileURLToPath(new URL('../../dist', import.meta.url))
const LONG = process.env.ESCAPEMENT_TEST_LONG !== undefined
const SECONDS = LONG ? 600 : 60
const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000)

it(
  `loses nothing and doubles nothing through ${SECONDS} s of faults of all kinds`,
  async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-faults-'))
    const other = copyOfDist(dist, { version: '9.9.9-deployed' })
    onTestFinished(() => other.remove())
    const kinds = Object.keys(FAULTS)
    const lines: string[] = []
    const report = await runOrdeal({
      seconds: SECONDS,
      seed,
      nodes: 3,
      kills: 0,
      restarts: 0,
      hasSmallDisk: false,
      // Others are at work on this machine: what is found must be no matter of how many.
      patience: 6,
      dist,
      otherDist: other.dist,
      folder,
      kinds,
      onProgress: (line) => void lines.push(line),
    })
    // A run that finds something is kept, outside of what the tests throw away.
    const kept = report.findings.length === 0 ? folder : path.resolve(`escapement-faults-${seed}`)
    if (kept !== folder) fs.cpSync(folder, kept, { recursive: true })
    console.log(tableOf(report, { seed, folder: kept }))
    expect(report.findings, lines.join('\n')).toEqual([])
    expect(report.occurrences.runs).toBeGreaterThan(SECONDS)
    expect([...report.faults.keys()].length).toBeGreaterThan(kinds.length / 2)
  },
  (SECONDS + 540) * 1000,
)

it('the points at which processes are killed are statements of the library', () => {
  const queries = path.join(dist, 'store')
  const files = fs.readdirSync(queries, { recursive: true, encoding: 'utf8' })
  const texts = files
    .filter((file) => file.endsWith('.js'))
    .map((file) => fs.readFileSync(path.join(queries, file), 'utf8'))
  for (const [point, text] of Object.entries(POINTS)) {
    if (text !== COMMIT)
      expect(
        texts.some((source) => source.includes(text)),
        point,
      ).toBe(true)
  }
})

it('the defects that are planted to be found can still be planted', () => {
  for (const bug of PLANTED) {
    const copy = copyOfDist(dist, { version: '0.0.0-planted' })
    onTestFinished(() => copy.remove())
    expect(() => plant(copy, bug)).not.toThrow()
    expect(bug.faults.every((part) => Object.keys(FAULTS).some((name) => name.includes(part)))).toBe(true)
  }
})
