/**
 * One process of a running system, with all roles, or those that it is told: its arguments are the database's URL, a number of
 * runs that it works on at once, and the roles. It answers its parent, and tells of each handler that begins.
 */
import { createEscapement } from 'escapement'

const [url, concurrency, ...roles] = process.argv.slice(2)
const escapement = await createEscapement({ database: url, worker: { concurrency: Number(concurrency) } })

/** Told together, so that telling does not hold up those that come next. */
let begun = []
function begin(run, planTime) {
  if (begun.length === 0) setImmediate(tell)
  begun.push({ run: run.id, at: Date.now(), planTime: planTime?.getTime() ?? null })
}
function tell() {
  process.send({ begun })
  begun = []
}

escapement.job('noop', { handler: ({ run, planTime }) => begin(run, planTime) })
// Whoever takes it first never comes to its end.
escapement.job('stuck', {
  handler: ({ run, attempt }) => {
    begin(run, null)
    if (attempt === 1) return new Promise(() => {})
  },
})
await escapement.start(roles.length > 0 ? { roles } : {})

process.on('message', async () => {
  const { user, system } = process.cpuUsage()
  process.send({ usage: { cpuMs: (user + system) / 1000, rss: process.memoryUsage.rss() } })
})
process.on('disconnect', () => process.exit())
process.on('SIGTERM', async () => {
  await escapement.close()
  process.exit()
})
process.send({ isReady: true })
