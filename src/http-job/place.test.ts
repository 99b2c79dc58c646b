import { describe, expect, it } from 'vitest'
import type { EscapementError } from '../errors.js'
import { readOrThrow } from '../time/report.js'
import { type Rules, readPlaces, refusalOf, targetOf } from './place.js'

const places = (entries: unknown, field = 'allow') =>
  readOrThrow('option_invalid', (report) => readPlaces(entries, field, report))

function rules(allow: string[] = [], only?: string[]): Rules {
  return { allow: places(allow), only: only ? places(only, 'only') : null }
}

/** Whether `address` may be dialled for `url`. */
const refused = (url: string, address: string, by = rules()) => refusalOf(by, targetOf(new URL(url)), address)

describe('addresses', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['100.64.0.1', 'CGNAT'],
    ['100.100.100.200', 'CGNAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', 'metadata'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'link-local'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.192', 'reserved'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', '6to4'],
    ['192.168.1.1', 'private'],
    ['198.18.0.1', 'benchmarks'],
    ['198.19.255.255', 'benchmarks'],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.7', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.250', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::7f00:1', 'IPv4-compatible'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:a9fe:a9fe', 'metadata'],
    ['::ffff:0:127.0.0.1', 'not a public one'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'metadata'],
    ['64:ff9b:1::808:808', 'NAT64'],
    ['100::1', 'not a public one'],
    ['2001::1', 'Teredo'],
    ['2001:0:53aa:64c:0:fbfe:80ff:fffe', 'Teredo'],
    ['2001:10::1', 'reserved'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::1', '6to4'],
    ['3fff:123::1', 'documentation'],
    ['5f00::1', 'not a public one'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', 'metadata'],
    ['fd20:ce::254', 'metadata'],
    ['fd12:3456::1', 'private'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['fec0::1', 'not a public one'],
    ['ff02::1', 'multicast'],
    ['not-an-address', 'no address'],
    ['unknown', 'no address'],
  ])('%s is refused: it is %s', (address, kind) => {
    expect(refused('https://example.com/', address)).toContain(kind)
  })

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2001:4860:4860::8888',
    '2a00:1450::1',
    '64:ff9b::808:808',
    '::ffff:8.8.8.8',
  ])('%s is public', (address) => {
    expect(refused('https://example.com/', address)).toBeNull()
  })

  it('are judged as the URL standard reads them, whatever way they are written', () => {
    const spellings = ['127.1', '2130706433', '0x7f.1', '0177.0.0.1', '0x7f000001', '127.0.0.1.', '①②⑦.0.0.1']
    for (const spelling of spellings) {
      const url = `https://${spelling}/`
      expect(refused(url, targetOf(new URL(url)).host)).toContain('loopback')
    }
  })

  it('that are refused are named with the entry that would allow them', () => {
    expect(refused('https://db.internal:8443/', '10.0.0.5')).toBe(
      'db.internal is 10.0.0.5, which is private. If it is meant, allow it: add "db.internal:8443" to "allow" of the job (on the command line: to ESCAPEMENT_HTTP_ALLOW)',
    )
    expect(refused('https://[::1]/', '::1')).toBe(
      '::1 is loopback. If it is meant, allow it: add "[::1]:443" to "allow" of the job (on the command line: to ESCAPEMENT_HTTP_ALLOW)',
    )
    expect(refused('http://example.com/', '8.8.8.8')).toBe(
      'plain http is refused. Use https, or allow it: add "http://example.com:80" to "allow" of the job (on the command line: to ESCAPEMENT_HTTP_ALLOW)',
    )
  })
})

describe('allow', () => {
  it.each([
    ['hooks.internal', 'https://hooks.internal/'],
    ['hooks.internal', 'https://HOOKS.internal.:9000/'],
    ['Hooks.Internal:443', 'https://hooks.internal/'],
    ['https://hooks.internal', 'https://hooks.internal/'],
    ['*.internal', 'https://a.b.internal/'],
    ['bücher.internal', 'https://xn--bcher-kva.internal/'],
    ['10.0.0.0/8', 'https://anything.example/'],
    ['10.0.0.5', 'https://anything.example/'],
    ['10.0.0.5:443', 'https://anything.example/'],
    ['http://hooks.internal', 'http://hooks.internal:8080/'],
    ['http://hooks.internal', 'https://hooks.internal/'],
    ['http://10.0.0.0/8', 'http://anything.example/'],
  ])('%s permits %s', (entry, url) => {
    expect(refused(url, '10.0.0.5', rules([entry]))).toBeNull()
  })

  it.each([
    ['hooks.internal', 'http://hooks.internal/'],
    ['hooks.internal', 'https://evil-hooks.internal/'],
    ['hooks.internal', 'https://x.hooks.internal/'],
    ['hooks.internal:8443', 'https://hooks.internal/'],
    ['*.internal', 'https://internal/'],
    ['*.internal', 'https://notinternal/'],
    ['10.0.0.0/16', 'https://10.1.0.5/'],
    ['10.0.0.5:8443', 'https://10.0.0.5/'],
    ['http://hooks.internal:80', 'http://hooks.internal:8080/'],
  ])('%s does not permit %s', (entry, url) => {
    expect(refused(url, '10.1.0.5', rules([entry]))).not.toBeNull()
  })

  it('of a range takes in the same addresses inside of IPv6', () => {
    expect(refused('https://x.example/', '::ffff:10.0.0.5', rules(['10.0.0.0/8']))).toBeNull()
    expect(refused('https://x.example/', '64:ff9b::a00:5', rules(['10.0.0.0/8']))).toBeNull()
    expect(refused('https://x.example/', '64:ff9b::a00:5', rules(['64:ff9b::/96']))).toBeNull()
    expect(refused('https://x.example/', 'fd00::7', rules(['fd00::/8']))).toBeNull()
    expect(refused('https://x.example/', 'fd00::7', rules(['fd00::7']))).toBeNull()
    expect(refused('https://x.example:8443/', 'fd00::7', rules(['[fd00::7]:8443']))).toBeNull()
    expect(refused('https://x.example/', 'fd00::7', rules(['[fd00::7]:8443']))).not.toBeNull()
  })
})

describe('only', () => {
  it('limits what is public and what is allowed alike', () => {
    const limited = rules(['db.internal', 'hooks.internal'], ['*.example.com', 'hooks.internal'])
    expect(refused('https://api.example.com/', '8.8.8.8', limited)).toBeNull()
    expect(refused('https://hooks.internal/', '10.0.0.5', limited)).toBeNull()
    expect(refused('https://api.example.org/', '8.8.8.8', limited)).toBe(
      'api.example.org:443 is not among the places that "only" of the job names',
    )
    expect(refused('https://db.internal/', '10.0.0.5', limited)).toContain('"only"')
  })

  it('allows nothing by itself', () => {
    expect(refused('https://hooks.internal/', '10.0.0.5', rules([], ['hooks.internal']))).toContain('private')
    expect(refused('http://api.example.com/', '8.8.8.8', rules([], ['*.example.com']))).toContain(
      'plain http',
    )
  })
})

describe('an entry that is no place', () => {
  it.each([
    '*',
    '*.',
    '',
    'a b',
    'a/b',
    'user@host',
    'host:0',
    'host:99999',
    'host:80:90',
    'ftp://host',
    'https://host/',
    '10.0.0.0/33',
    '10/8',
    '192.168/16',
    '010.0.0.0/8',
    '*.10.0.0.1',
    'a.*.b',
    7,
    null,
  ])('%s is refused with what to write', (entry) => {
    expect(() => places([entry])).toThrowError(/^allow\[0\]: .* – .*; write "hooks\.internal"/)
  })

  it('is named with all others', () => {
    const failure = (() => {
      try {
        places(['*', 'fine', 'a b'])
      } catch (error) {
        return error as EscapementError
      }
    })()
    expect(failure?.details.mistakes).toMatchObject([{ field: 'allow[0]' }, { field: 'allow[2]' }])
    expect(() => places('hooks.internal')).toThrowError(/^allow: "hooks.internal" – must be a list/)
  })
})
