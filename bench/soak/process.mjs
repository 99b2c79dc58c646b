/**
 * One process of the system under load: a scheduler and a worker of the built package. Several times a second it tells whoever
 * started it how late handlers began, in milliseconds after their runs might. Plain JavaScript, so that nothing stands between it and Node.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createEscapement } from 'escapement'

const TELL_EVERY_MS = 250
const RETRY = { attempts: 20, backoff: ['1s'] }

const escapement = await createEscapement({
  database: process.argv[2],
  migrate: false,
  scheduler: { retention: false },
  worker: { concurrency: 500 },
})
let lateness = []
const began = ({ run }) => lateness.push(Math.max(0, Date.now() - run.eligibleAt.getTime()))

escapement.job('steady', { retry: RETRY, handler: began })
escapement.job('flaky', {
  retry: RETRY,
  handler: (context) => {
    began(context)
    if (context.attempt === 1) throw new Error('flaky')
  },
})
escapement.job('limited', {
  retry: RETRY,
  concurrency: 200,
  handler: (context) => {
    began(context)
    return sleep(5)
  },
})

const tell = () => {
  process.send({ lateness })
  lateness = []
}
setInterval(tell, TELL_EVERY_MS)
// Whoever started it is gone, and with that the one who would end it.
process.on('disconnect', () => process.exit(1))
process.on('SIGTERM', async () => {
  await escapement.close()
  process.exit(0)
})
await escapement.start({ roles: ['scheduler', 'worker'] })
process.send({ isReady: true })
