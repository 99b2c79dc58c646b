import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Finding } from './checks/finding.js'
import { copyOfDist } from './dist-copy.js'
import { FAULTS, faultsWith } from './faults.js'
import type { OrdealReport } from './judging.js'
import { type OrdealSettings, runOrdeal } from './ordeal.js'
import { CONTROL, PLANTED, type PlantedBug, plant, seenOf } from './planted.js'
import { tableOf } from './table.js'

const HELP = `Breaks Escapement in every way that it knows, while it runs, and proves that nothing was lost and nothing doubled.

  npm run test:faults -- --minutes 10 --seed 7

It starts a PostgreSQL server of its own and several processes, each with a scheduler, a worker and a sweeper behind a proxy. Users put,
edit, pause, skip, trigger, backfill and delete schedules while a nemesis kills, freezes and cuts off whatever it finds. Handlers write
down what they did in files of their own. Then an oracle that shares no code with the library says what must have happened.

  --minutes <n>      how long; 1 by default, and 0.5 is a number too
  --seed <n>         the same seed gives each user the same verbs in the same order, and the nemesis the same faults, but for what
                     --kills and --restarts add, which goes by the clock; by default, one from the clock
  --processes <n>    how many processes of the system; 3 by default
  --faults <names>   only these, by a part of their names, with commas: --faults kill,PostgreSQL; "none" for none at all
  --dist <folder>    the compiled library; dist by default, which is built first
  --keep <folder>    where history, witnesses and the ledger are kept; a new folder in the temporary one by default
  --kills <n>        at least so many SIGKILLs of processes, in storms with peace between them; by default as it comes
  --restarts <n>     at least so many restarts of PostgreSQL; by default as it comes
  --small-disk       gives the database a disk in memory that can be filled: as root, where that can be mounted
  --planted <name>   plants a defect in a copy of the library and expects that it is seen for what it is, and that nothing is where
                     none is planted: "all", or a part of a name
  --help

It ends with status 1 if it finds anything, and says which run and which files.

Faults: ${Object.keys(FAULTS).join(' · ')}
Planted: ${PLANTED.map(({ name }) => name).join(' · ')}`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    processes: { type: 'string', default: '3' },
    faults: { type: 'string' },
    dist: { type: 'string' },
    keep: { type: 'string' },
    kills: { type: 'string' },
    restarts: { type: 'string' },
    'small-disk': { type: 'boolean', default: false },
    planted: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) console.log(HELP)
else await main()

function numberOf(name: 'minutes' | 'seed' | 'processes' | 'kills' | 'restarts', fallback: number): number {
  const given = values[name]
  if (given === undefined) return fallback
  const value = Number(given)
  if (Number.isFinite(value) && value > 0) return value
  console.error(`--${name}: "${given}" – must be a number above 0. See --help.`)
  process.exit(2)
}

async function main(): Promise<void> {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const seed = Math.trunc(numberOf('seed', Date.now() % 1_000_000))
  const seconds = numberOf('minutes', 1) * 60
  const folder = path.resolve(
    values.keep ?? fs.mkdtempSync(path.join(os.tmpdir(), `escapement-faults-${seed}-`)),
  )
  if (values.dist === undefined) {
    const { status } = spawnSync(process.execPath, ['scripts/build-code.mjs'], {
      cwd: root,
      stdio: 'inherit',
    })
    if (status !== 0) process.exit(1)
  }
  const dist = path.resolve(values.dist ?? path.join(root, 'dist'))
  console.log(`seed ${seed}, ${seconds} s, kept in ${folder}`)
  const shared = {
    seconds,
    seed,
    nodes: numberOf('processes', 3),
    kills: numberOf('kills', 0),
    restarts: numberOf('restarts', 0),
    hasSmallDisk: values['small-disk'],
    patience: 1,
  }
  if (values.planted !== undefined) return findPlanted({ ...shared, dist, folder }, values.planted)
  const report = await undergo({ ...shared, dist, folder, kinds: faultsNamed(values.faults) })
  console.log(tableOf(report, { seed, folder }))
  process.exitCode = report.findings.length === 0 ? 0 : 1
}

type Chosen = Omit<OrdealSettings, 'otherDist' | 'onProgress'>

async function undergo(settings: Chosen): Promise<OrdealReport> {
  const startedAt = performance.now()
  const other = copyOfDist(settings.dist, { version: '9.9.9-deployed' })
  try {
    const report = await runOrdeal({
      ...settings,
      otherDist: other.dist,
      onProgress: (line) =>
        console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)} s  ${line}`),
    })
    fs.writeFileSync(path.join(settings.folder, 'report.txt'), tableOf(report, settings))
    return report
  } finally {
    other.remove()
  }
}

/** Each of them must be seen for what it is, and nothing where none is planted; how it was is printed. */
async function findPlanted(settings: Omit<Chosen, 'kinds'>, named: string): Promise<void> {
  const chosen = PLANTED.filter(({ name }) => named === 'all' || name.includes(named))
  if (chosen.length === 0) {
    console.error(
      `--planted: "${named}" is part of none. There are: ${PLANTED.map(({ name }) => name).join(', ')}`,
    )
    process.exit(2)
  }
  const found: string[] = []
  const note = (name: string, isRight: boolean, what: string) => {
    found.push(`${name.padEnd(40)}${isRight ? '' : 'WRONG: '}${what}`)
    if (!isRight) process.exitCode = 1
  }
  const nothing = await findingsOf(settings, CONTROL)
  note(CONTROL.name, nothing.length === 0, `${nothing.length} findings ${kindsOf(nothing)}`)
  for (const bug of chosen) {
    const findings = await findingsOf(settings, bug)
    const seen = seenOf(bug, findings)
    note(bug.name, seen.length > 0, `seen ${seen.length} times; of all findings ${kindsOf(findings)}`)
    for (const { kind, about, message } of seen.slice(0, 2)) found.push(`    ${kind}: ${about} ${message}`)
  }
  console.log(`\n${found.join('\n')}`)
}

async function findingsOf(
  settings: Omit<Chosen, 'kinds'>,
  bug: PlantedBug | typeof CONTROL,
): Promise<readonly Finding[]> {
  console.log(`\nplanted: ${bug.name}`)
  const copy = copyOfDist(settings.dist, { version: '0.0.0-planted' })
  try {
    if ('replacements' in bug) plant(copy, bug)
    const folder = path.join(settings.folder, bug.name.replaceAll(/[^a-z]+/g, '-'))
    const kinds = bug.faults.flatMap((part) => faultsNamed(part))
    const { findings } = await undergo({ ...settings, dist: copy.dist, folder, kinds })
    return findings
  } finally {
    copy.remove()
  }
}

function kindsOf(findings: readonly Finding[]): string {
  const counts = new Map<string, number>()
  for (const { kind } of findings) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')
}

function faultsNamed(names: string | undefined): string[] {
  const all = Object.keys(FAULTS)
  if (names === undefined) return all
  if (names === 'none') return []
  const wanted = names.split(',')
  const unknown = wanted.find((part) => faultsWith(part).length === 0)
  if (unknown === undefined) return [...new Set(wanted.flatMap(faultsWith))]
  console.error(`--faults: "${unknown}" is part of none. There are: ${all.join(', ')}`)
  process.exit(2)
}
