import { describe, expect, it } from 'vitest'
import { readFound } from './found-server.js'

const ours = { uid: 1000, ownUid: 1000 }

describe('a lock file', () => {
  it.each([
    ['http://127.0.0.1:4680', 'http://127.0.0.1:4680/'],
    ['http://127.8.9.10:4680', 'http://127.8.9.10:4680/'],
    ['http://localhost:4680', 'http://localhost:4680/'],
    ['http://[::1]:4680', 'http://[::1]:4680/'],
    // These listen on every address.
    ['http://0.0.0.0:4680', 'http://127.0.0.1:4680/'],
    ['http://[::]:4680', 'http://[::1]:4680/'],
  ])('that points to %s is believed', (url, found) => {
    expect(readFound({ url, ...ours })).toEqual({ url: found })
  })

  it.each([
    ['http://203.0.113.7:4680', 'it points to 203.0.113.7:4680, beyond this machine'],
    ['http://localhost.example.com/', 'it points to localhost.example.com, beyond this machine'],
    ['http://127.0.0.1@example.com/', 'it points to example.com, beyond this machine'],
    ['http://127.0.0.1.example.com/', 'it points to 127.0.0.1.example.com, beyond this machine'],
    ['file://localhost/etc', 'it names no server'],
    ['nonsense', 'it names no address'],
    [4680, 'it names no address'],
  ])('that points to %s is not', (url, refused) => {
    expect(readFound({ url, ...ours })).toEqual({ refused })
  })

  it('is believed if it is ours or of root, where the platform tells', () => {
    const url = 'http://127.0.0.1:4680/'
    expect(readFound({ url, uid: 1001, ownUid: 1000 })).toEqual({
      refused: 'it belongs to another user (uid 1001)',
    })
    expect(readFound({ url, uid: 1001, ownUid: 0 })).toMatchObject({ refused: expect.any(String) })
    expect(readFound({ url, uid: undefined, ownUid: 1000 })).toMatchObject({ refused: expect.any(String) })
    expect(readFound({ url, uid: 0, ownUid: 1000 })).toEqual({ url })
    expect(readFound({ url, uid: 0, ownUid: undefined })).toEqual({ url })
  })
})
