/**
 * Connects to where a call may go, and nowhere else. A name is looked up once, all of its addresses are judged, and only these are
 * dialled: between the judgement and the dial there is no second lookup that could answer something else. What the socket is
 * connected to in the end is judged again before anything is sent.
 */
import dns from 'node:dns/promises'
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { NonRetryableError } from '../runs/retry-delay.js'
import { type Rules, refusalOf, type Target } from './place.js'

/** Of several addresses the next is tried after so long; the system's quarter of a second is too short for far ones. */
const NEXT_ADDRESS_AFTER_MS = 1_000

/** A socket, secured where the target is https. It is destroyed when `signal` aborts. */
export async function dial(
  target: Target,
  { rules, secureContext }: { rules: Rules; secureContext: tls.SecureContext },
  signal: AbortSignal,
): Promise<net.Socket> {
  const addresses = await untilAborted(dns.lookup(target.host, { all: true }), signal)
  for (const { address } of addresses) judge(rules, target, address)
  const socket = net.connect({
    host: target.host,
    port: target.port,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    lookup: (_host, _options, callback) => callback(null, addresses),
  })
  try {
    await ready(socket, 'connect', signal)
    judge(rules, target, socket.remoteAddress ?? 'unknown')
    if (target.isPlain) return socket
    const secured = tls.connect({
      socket,
      host: target.host,
      // Names alone are asked for by SNI.
      servername: net.isIP(target.host) === 0 ? target.host : '',
      secureContext,
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
    })
    await ready(secured, 'secureConnect', signal)
    return secured
  } catch (error) {
    socket.destroy()
    throw error
  }
}

function judge(rules: Rules, target: Target, address: string): void {
  const refusal = refusalOf(rules, target, address)
  if (refusal !== null) throw new AddressRefused(refusal)
}

/** Not sent, and never will be: what is refused now is refused the next time too. */
export class AddressRefused extends NonRetryableError {}

async function ready(socket: net.Socket, event: string, signal: AbortSignal): Promise<void> {
  // Whoever waits hears of an error; one that comes while nobody does must not end the process.
  socket.on('error', () => {})
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  await once(socket, event, { signal })
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    // Before all else: how it ends must be heard, also where nobody waits for it any more.
    work.then(resolve, reject)
    signal.throwIfAborted()
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
