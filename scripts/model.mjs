// Searches the model of an occurrence's life whole, and then with each guard taken away. Needs Spin and a C compiler.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const model = fileURLToPath(new URL('../model/occurrence.pml', import.meta.url))
const small = ['CRASHES=1', 'EXPIRIES=0']

/** What is searched, and whether it should hold. */
const searches = [
  { what: 'everything in place', holds: true },
  {
    what: 'everything in place: all comes to its end',
    defines: ['CRASHES=1', 'EXPIRIES=1'],
    live: true,
    holds: true,
  },
  { what: 'without the lock on the row', defines: ['NO_LOCK', ...small], holds: true },
  { what: 'without compare-and-set', defines: ['NO_CAS'], holds: true },
  { what: 'without the unique key', defines: ['NO_KEY'], holds: true },
  { what: 'without lock and key', defines: ['NO_LOCK', 'NO_KEY', ...small], holds: true },
  { what: 'without compare-and-set and key', defines: ['NO_CAS', 'NO_KEY', ...small], holds: true },
  { what: 'without lock and compare-and-set', defines: ['NO_LOCK', 'NO_CAS', ...small], holds: false },
  { what: 'without all three', defines: ['NO_LOCK', 'NO_CAS', 'NO_KEY', ...small], holds: false },
  { what: 'the cursor moved before the insert', defines: ['CURSOR_FIRST'], holds: false },
  { what: "a host's clock instead of the database's", defines: ['HOST_CLOCK'], holds: false },
  { what: 'without fencing', defines: ['NO_FENCE'], holds: false },
]

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-model-'))
try {
  process.exitCode = searches.map(search).every(Boolean) ? 0 : 1
} finally {
  fs.rmSync(folder, { recursive: true })
}

/** Whether it came out as it should. */
function search({ what, defines = [], live = false, holds }) {
  run('spin', ['-a', ...defines.map((name) => `-D${name}`), model])
  const mode = live ? ['-DNFAIR=3'] : ['-DSAFETY', '-DNOCLAIM']
  run('cc', ['-w', '-O2', '-DCOLLAPSE', ...mode, '-o', 'pan', 'pan.c'])
  const found = run('./pan', ['-m1000000', ...(live ? ['-a', '-f'] : [])])
  if (/max search depth too small|out of memory|Search not completed/.test(found) && holds) {
    throw new Error(`The search was cut short:\n${found}`)
  }
  const errors = Number(/errors: (\d+)/.exec(found)?.[1])
  const states = Number(/(\d+) states, stored/.exec(found)?.[1]).toLocaleString('en-GB')
  const isRight = (errors === 0) === holds
  console.log(
    `${isRight ? '✓' : '✗'} ${what}: ${errors === 0 ? 'holds' : 'breaks'} (${states} states)${isRight ? '' : `; should ${holds ? 'hold' : 'break'}`}`,
  )
  return isRight
}

function run(command, args) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (error?.code === 'ENOENT') {
    console.error(
      `"${command}" is not here: the model needs Spin and a C compiler ("apt-get install spin gcc", "brew install spin").`,
    )
    process.exit(2)
  }
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ended with ${status}:\n${stdout}${stderr}`)
  return stdout
}
