import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { hostNow } from '../clock.js'
import { readOrThrow } from '../time/report.js'
import { readSecret, signatureOf } from './signature.js'

const OLD = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const NEW = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const keysOf = (secret: unknown) =>
  readOrThrow('option_invalid', (report) => readSecret(secret, 'secrets.default', report))

describe('a signature', () => {
  it('is that of the example in the specification', () => {
    const message = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: '1614265330',
      body: Buffer.from('{"test": 2432232314}'),
    }
    expect(signatureOf(keysOf(OLD), message)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  it('verifies with the public package under each secret of a rotation, and not once something has changed', () => {
    const body = Buffer.from('{"naïve":"žluťoučký 🐎"}')
    const timestamp = String(Math.floor(hostNow() / 1000))
    const headers = {
      'webhook-id': 'run-1',
      'webhook-timestamp': timestamp,
      'webhook-signature': signatureOf(keysOf(`${OLD} ${NEW}`), { id: 'run-1', timestamp, body }),
    }
    for (const secret of [OLD, NEW]) {
      expect(new Webhook(secret).verify(body.toString(), headers)).toEqual({ naïve: 'žluťoučký 🐎' })
      expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow()
      expect(() =>
        new Webhook(secret).verify(body.toString(), { ...headers, 'webhook-id': 'run-2' }),
      ).toThrow()
    }
    expect(() => new Webhook(`whsec_${'A'.repeat(32)}`).verify(body.toString(), headers)).toThrow()
  })

  it.each([
    ['', 'nothing'],
    ['secret-of-mine', 'no prefix'],
    ['whsec_', 'no bytes'],
    [`whsec_${'A'.repeat(28)}`, 'too few bytes'],
    [`whsec_${'A'.repeat(96)}`, 'too many bytes'],
    ['whsec_sécrét-of-mine-that-is-long-enough', 'no base64'],
    [`${NEW} secret-of-mine`, 'one of two is none'],
    [undefined, 'no text'],
  ])('takes no secret like %j: %s', (secret, _) => {
    const attempt = () => keysOf(secret)
    expect(attempt).toThrowError(/^secrets\.default: must be whsec_ followed by 24 to 64 bytes in base64/)
    // What was given may be all but right, so it is not repeated.
    expect(attempt).not.toThrowError(/of-mine/)
  })
})
