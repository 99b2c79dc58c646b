import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpClient, Result } from '../http-client/index.js'
import { colours } from './colours.js'
import { EXIT_STATUS } from './exit-status.js'
import { type JsonFlag, show } from './output.js'
import { withProgress } from './progress.js'
import { took } from './run-words.js'

const FIRST_LOOK_MS = 50
const LONGEST_PAUSE_MS = 1_000

/** Looks at a run until it has ended, and says how. Ends with status 1 unless it succeeded. */
export async function followRun(client: HttpClient, id: string, flags: JsonFlag): Promise<void> {
  const details = await withProgress(`waiting for ${id}`, async (progress) => {
    for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const found = await client.runs.get(id)
      if (found.run.finishedAt !== null) return found
      if (found.run.progress) progress.update(Math.round(found.run.progress.fraction * 100), 100)
      await sleep(pauseMs)
    }
  })
  show(flags, details, () => describeEnd(details.run))
  if (details.run.state !== 'succeeded') process.exitCode = EXIT_STATUS.failed
}

function describeEnd({
  id,
  state,
  startedAt,
  finishedAt,
  attempt,
  result,
  error,
}: Result<'getRun'>['run']): string {
  const duration = took(startedAt, finishedAt)
  const how = [duration && `took ${duration}`, attempt > 1 && `attempt ${attempt}`].filter(Boolean).join(', ')
  const head = `${id} ${state}${how && ` (${how})`}`
  if (state === 'succeeded') {
    return `${colours.green('✔')} ${head}${result === null ? '' : `: ${JSON.stringify(result)}`}`
  }
  return `${colours.red('✘')} ${head}${error ? `: ${error.message}` : ''}`
}
