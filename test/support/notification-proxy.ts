import { once } from 'node:events'
import net from 'node:net'

/** `A`: what the server sends of itself when somebody has notified. */
const NOTIFICATION = 0x41

export interface NotificationProxy {
  /** The server's address by way of the proxy. */
  readonly url: string
  close(): Promise<void>
}

/**
 * Stands between a client and a PostgreSQL server and passes everything on but notifications: these are given to `onNotification`,
 * with what delivers them.
 */
export async function openNotificationProxy(
  serverUrl: string,
  onNotification: (deliver: () => void) => void,
): Promise<NotificationProxy> {
  const url = new URL(serverUrl)
  const [host, port] = [url.hostname, Number(url.port)]
  const sockets = new Set<net.Socket>()
  const proxy = net.createServer((client) => {
    const server = net.connect(port, host)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.pipe(server)
    let rest = Buffer.alloc(0)
    server.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk])
      // Each message is its type, its length without that, and the rest.
      while (rest.length >= 5 && rest.length >= 1 + rest.readInt32BE(1)) {
        const message = rest.subarray(0, 1 + rest.readInt32BE(1))
        rest = rest.subarray(message.length)
        if (message[0] === NOTIFICATION) onNotification(() => client.write(message))
        else client.write(message)
      }
    })
    server.on('end', () => client.end())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  url.hostname = '127.0.0.1'
  url.port = String((proxy.address() as net.AddressInfo).port)
  return {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
