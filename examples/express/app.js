/**
 * A shop in Express with the API and the dashboard of Escapement under /internal/jobs, and its work in the same process.
 *
 *     npm install && npm start
 */
import { once } from 'node:events'
import { createEscapement } from 'escapement'
import { createHandler, toNodeHandler } from 'escapement/server'
import express from 'express'

const escapement = await createEscapement({ database: process.env.DATABASE_URL })
const invoice = escapement.job('send-invoice', {
  handler: ({ input }) => console.log(`invoice for order ${input.order}`),
})
await escapement.start()

const handler = createHandler(escapement, {
  prefix: '/internal/jobs',
  // Who is let in without a token of Escapement: whom your own session knows. Here, whoever has the header.
  authenticate: (request) => (request.headers.get('x-staff') ? { name: 'staff', role: 'operator' } : null),
})

const app = express()
// Before express.json(): it reads its bodies itself.
app.use('/internal/jobs', toNodeHandler(handler))
app.use(express.json())
app.post('/orders', async (request, response) => {
  const { order } = request.body
  const { created } = await escapement.runs.enqueue(invoice, { order }, { key: `invoice:${order}` })
  response.status(created ? 201 : 200).json({ order })
})

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    // Streams of events would not end by themselves.
    handler.close()
    server.close().closeIdleConnections()
    await once(server, 'close')
    await escapement.close()
    console.log('stopped')
  })
}
