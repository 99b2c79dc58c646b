import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface ReceivedCall {
  method: string
  url: string
  headers: http.IncomingHttpHeaders
  body: string
}

/** A real server on this machine that keeps what it is sent, and answers by `answer`; 200 and nothing by default. */
export async function openReceiver(
  answer: (call: ReceivedCall, response: http.ServerResponse) => void = (_, response) => response.end(),
  certificate?: { key: string; cert: string },
) {
  const calls: ReceivedCall[] = []
  const receive: http.RequestListener = async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const call = { method: request.method!, url: request.url!, headers: request.headers, body }
    calls.push(call)
    answer(call, response)
  }
  const server = certificate ? https.createServer(certificate, receive) : http.createServer(receive)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { calls, port, server, url: `http${certificate ? 's' : ''}://127.0.0.1:${port}` }
}
