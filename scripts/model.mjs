// Searches the model of an occurrence's life whole, and then with each guard taken away. Needs Spin and a C compiler.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const model = fileURLToPath(new URL('../model/occurrence.pml', import.meta.url))
/** Without the lock many more orders are possible: as much as can be searched in seconds. */
const small = ['CRASHES=1', 'EXPIRIES=0']

/** What Spin says of each assertion, and of the claim, when it finds them violated. */
const EARLY = /assertion violated \(each<=now\)/
const DOUBLE = /assertion violated \( ?!\(\(\(runs\[1\]\+skips\[1\]\)>1/
const UNANSWERED = /assertion violated \( ?!\(+decided>=1\)&&\(\(runs\[1\]\+skips\[1\]\)==0/
const STALE = /assertion violated \(\(state\[p\]==\d+\)&&\(token\[p\]==mine\)\)/
const NEVER_ENDS = /acceptance cycle/

/** What is searched; and what is found, unless it holds. With two crashes and two expiries where nothing else is said. */
const searches = [
  { what: 'everything in place' },
  { what: 'everything in place: all comes to its end', live: true },
  { what: 'without the lock on the row', defines: ['NO_LOCK', ...small] },
  { what: 'without compare-and-set', defines: ['NO_CAS'] },
  { what: 'without the unique key', defines: ['NO_KEY'] },
  { what: 'without lock and key', defines: ['NO_LOCK', 'NO_KEY', ...small] },
  { what: 'without compare-and-set and key', defines: ['NO_CAS', 'NO_KEY'] },
  { what: 'without lock and compare-and-set', defines: ['NO_LOCK', 'NO_CAS', ...small], breaks: DOUBLE },
  { what: 'without all three', defines: ['NO_LOCK', 'NO_CAS', 'NO_KEY', ...small], breaks: DOUBLE },
  { what: 'the cursor moved before the insert', defines: ['CURSOR_FIRST'], breaks: UNANSWERED },
  { what: 'the same where nobody dies', defines: ['CURSOR_FIRST', 'CRASHES=0'] },
  { what: "a host's clock instead of the database's", defines: ['HOST_CLOCK'], breaks: EARLY },
  { what: 'without the token in outcomes', defines: ['NO_FENCE'], breaks: STALE },
  { what: 'the same where no lease ends early', defines: ['NO_FENCE', 'EXPIRIES=0'] },
  { what: 'leases of the dead that never end', defines: ['NO_RECOVERY'], live: true, breaks: NEVER_ENDS },
]

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-model-'))
try {
  process.exitCode = searches.map(search).every(Boolean) ? 0 : 1
} finally {
  fs.rmSync(folder, { recursive: true })
}

/** Whether it came out as it should: what breaks must break in the way that is expected, and in no other. */
function search({ what, defines = [], live = false, breaks }) {
  run('spin', ['-a', ...defines.map((name) => `-D${name}`), model])
  const mode = live ? ['-DNFAIR=3'] : ['-DSAFETY', '-DNOCLAIM']
  run('cc', ['-w', '-O2', '-DCOLLAPSE', ...mode, '-o', 'pan', 'pan.c'])
  const found = run('./pan', ['-m1000000', ...(live ? ['-a', '-f'] : [])])
  const errors = /errors: (\d+)/.exec(found)?.[1]
  if (errors === undefined) throw new Error(`The search of "${what}" says nothing of errors:\n${found}`)
  if (/max search depth too small|out of memory/.test(found)) {
    throw new Error(`The search of "${what}" was cut short:\n${found}`)
  }
  const states = Number(/(\d+) states, stored/.exec(found)?.[1]).toLocaleString('en-GB')
  const isRight = breaks ? breaks.test(found) : errors === '0'
  const violated = /^pan:1: (.*)/m.exec(found)?.[1]
  console.log(
    `${isRight ? '✓' : '✗'} ${what}: ${violated === undefined ? 'holds' : 'breaks'} (${states} states)${isRight ? '' : `; ${violated ?? 'should break'}`}`,
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
