import { createInterface } from 'node:readline'

/**
 * Drives a queue in a process of its own: told what to do in lines of JSON on its input, it answers each with a line
 * of JSON (see `Command` in contestant-process.ts). Every run carries a number, and its handler does nothing. Plain
 * JavaScript, so that nothing stands between a queue and Node.
 *
 * What `open` gives for the server's URL:
 *
 * - `prepare()` makes its tables, once;
 * - `empty()` throws away everything that was ever enqueued;
 * - `settle()` vacuums, takes statistics and a checkpoint: what a fill leaves behind is not part of the drain;
 * - `enqueue(n)` and `enqueueMany(numbers)`;
 * - `work(handle, load)` starts a worker at its best settings for a `backlog`, or for `single` runs now and then;
 * - `unfinished()` says whether something was enqueued whose end is not recorded;
 * - `statements()` says how many statements, or commands, its server has been sent so far;
 * - `close()`.
 */
export async function serve(open) {
  const contestant = await open(process.argv[2])
  const worker = createWorkerLog()
  const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
  say({})
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line)
    say(await answer(contestant, worker, command))
    if (command.do === 'close') break
  }
  process.exit()
}

async function answer(contestant, worker, command) {
  switch (command.do) {
    case 'enqueueEach':
      await enqueueEach(contestant, command.warmUp, command.callers)
      return { ms: await enqueueEach(contestant, command.count, command.callers) }
    case 'enqueueAll':
      // The first tenth warms it up.
      await enqueueAll(contestant, Math.ceil(command.count / 10), command.chunk)
      return { ms: await enqueueAll(contestant, command.count, command.chunk) }
    case 'enqueueAtIntervals':
      return { asked: await enqueueAtIntervals(contestant, command.count, command.everyMs) }
    case 'work':
      await contestant.work(worker.handle, command.load)
      return {}
    case 'progress':
      return worker.progress()
    case 'usage': {
      const { user, system } = process.cpuUsage()
      return { cpuMs: (user + system) / 1000, atMs: machineMs() }
    }
    case 'unfinished':
      return { unfinished: await contestant.unfinished() }
    case 'statements':
      return { statements: await contestant.statements() }
    default:
      await contestant[command.do]()
      return {}
  }
}

async function enqueueEach(contestant, count, callers) {
  let next = 0
  const startedMs = machineMs()
  const call = async () => {
    while (next < count) await contestant.enqueue(next++)
  }
  await Promise.all(Array.from({ length: callers }, call))
  return machineMs() - startedMs
}

async function enqueueAll(contestant, count, chunk) {
  const numbers = Array.from({ length: count }, (_, n) => n)
  const startedMs = machineMs()
  for (let at = 0; at < count; at += chunk) await contestant.enqueueMany(numbers.slice(at, at + chunk))
  return machineMs() - startedMs
}

async function enqueueAtIntervals(contestant, count, everyMs) {
  const asked = []
  for (let n = 0; n < count; n++) {
    // Not in step with any timer of the queue.
    await new Promise((resolve) => setTimeout(resolve, everyMs * (0.5 + Math.random())))
    asked.push(machineMs())
    await contestant.enqueue(n)
  }
  return asked
}

/** When which run was started: its number and the time, two entries for each. */
function createWorkerLog() {
  const numbers = []
  const times = []
  return {
    handle(n) {
      numbers.push(n)
      times.push(machineMs())
    },
    /** What was started since it was last asked. */
    progress: () => ({ numbers: numbers.splice(0), times: times.splice(0) }),
  }
}

/** Milliseconds on a clock that all processes of one machine share. */
function machineMs() {
  return Number(process.hrtime.bigint()) / 1e6
}
