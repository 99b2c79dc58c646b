/**
 * The server whose answers are measured, in a process of its own: `serve` of the built package over the database that is named. It tells
 * its address on the first line. No scheduler and no worker runs, so that all rounds meet the same rows.
 */
import { createEscapement, set } from 'escapement'
import { serve } from 'escapement/server'

const [database, ...jobs] = process.argv.slice(2)
const escapement = await createEscapement({ database })
for (const name of jobs) escapement.job(name, { handler: () => {} })
await escapement.transitions.declare('posts', {
  softDelete: 'deleted_at',
  fields: { publish_at: set('status', { from: 'draft', to: 'published' }) },
})
const { token } = await escapement.tokens.create({ name: 'bench', role: 'admin' })
const server = await serve(escapement, { port: 0 })
process.stdout.write(`${JSON.stringify({ url: server.url, token })}\n`)
process.stdin.resume()
process.stdin.once('end', async () => {
  await server.close()
  await escapement.close()
})
