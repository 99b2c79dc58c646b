/**
 * A webhook to a receiver that is down at first: signed, tried again, and recognised as the same one.
 *
 *     npm run example:webhooks
 *
 * The receiver runs in this process. Time is moved by hand, so that nobody waits for the second attempt.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { httpJob } from 'escapement'
import { createHarness } from 'escapement/testing'
import { Webhook } from 'standardwebhooks'

const secret = `whsec_${Buffer.from('a secret of this example alone').toString('base64')}`

// What your customer runs.
const webhook = new Webhook(secret)
const seen = new Set<string>()
const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const id = request.headers['webhook-id'] as string
  const attempt = request.headers['escapement-attempt']
  const known = seen.has(id) ? 'known' : 'new'
  seen.add(id)
  try {
    const event = webhook.verify(body, request.headers as Record<string, string>)
    console.log(
      `received ${request.url}, attempt ${attempt}, ${known} id, signature good: ${JSON.stringify(event)}`,
    )
  } catch (error) {
    console.log(`received ${request.url}: ${(error as Error).message}`)
  }
  // The first call finds it down.
  response.writeHead(known === 'new' ? 503 : 200).end()
})
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

// What you run.
const h = await createHarness({ database: process.env.DATABASE_URL ?? 'memory:', at: new Date() })
// Without `allow` nothing private is called, and nothing without TLS.
const http = h.job(httpJob({ secrets: { default: secret }, allow: [url] }))

const paid = {
  url: `${url}/orders`,
  body: { type: 'order.paid', order: 4711, attempt: '{{attempt}}' },
}
// The request came twice, and asks twice: the key says that it is the same.
for (let request = 1; request <= 2; request++) {
  const { created } = await h.runs.enqueue(http, paid, { key: 'order.paid:4711' })
  console.log(`request ${request} has ${created ? 'made a run' : 'found the run'}`)
}

await h.advance('1 minute')

const { runs } = await h.runs.search({ job: 'http' })
for (const { key, state, attempt } of runs) console.log(`${key}: ${state} after ${attempt} attempts`)
await h.close()
receiver.close()
