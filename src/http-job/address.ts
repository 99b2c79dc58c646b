/**
 * Which addresses are of the public internet. Everything else is refused: the lists are those of IANA's registries of special
 * purpose addresses, and of IPv6 only what IANA gives out at all (2000::/3) counts as public.
 */
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Range = readonly [Address, number]

/** The first that fits says what an address is. */
const SPECIAL: readonly (readonly [string, string])[] = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared by a provider (CGNAT)'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.169.254/32', 'of cloud metadata'],
  ['169.254.0.0/16', 'link-local'],
  // Azure answers its machines there, in the midst of public addresses.
  ['168.63.129.16/32', 'of cloud metadata'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'for documentation'],
  ['192.88.99.0/24', 'of a 6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'for benchmarks'],
  ['198.51.100.0/24', 'for documentation'],
  ['203.0.113.0/24', 'for documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'broadcast'],
  ['240.0.0.0/4', 'reserved'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'IPv4-compatible, which nobody uses'],
  ['64:ff9b:1::/48', 'of a local NAT64'],
  ['2001::/32', 'of a Teredo tunnel'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'for documentation'],
  ['2002::/16', 'of a 6to4 tunnel'],
  ['3fff::/20', 'for documentation'],
  ['fd00:ec2::254/128', 'of cloud metadata'],
  ['fd20:ce::254/128', 'of cloud metadata'],
  ['fc00::/7', 'private (unique local)'],
  ['fe80::/10', 'link-local'],
  ['ff00::/8', 'multicast'],
]
const RANGES = SPECIAL.map(([range, kind]) => ({ range: ipaddr.parseCIDR(range), kind }))
const GIVEN_OUT = ipaddr.parseCIDR('2000::/3')
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')
const EMBEDDED_IPV4 = 12

/** What kind of address it is, in words that follow "is"; null if it is a public one. */
export function specialKind(address: Address): string | null {
  const meant = unwrapped(address)
  const special = RANGES.find(({ range }) => isWithin(meant, range))
  if (special) return special.kind
  return meant.kind() === 'ipv4' || isWithin(meant, GIVEN_OUT) ? null : 'not a public one'
}

/**
 * Where packets to it go in the end: an IPv4 address may be written inside of an IPv6 one, as the system does for sockets of both
 * (mapped), and as networks without IPv4 do for all others (NAT64).
 */
export function unwrapped(address: Address): Address {
  if (address.kind() === 'ipv4') return address
  const wide = address as ipaddr.IPv6
  if (wide.isIPv4MappedAddress()) return wide.toIPv4Address()
  return isWithin(wide, NAT64) ? new ipaddr.IPv4(wide.toByteArray().slice(EMBEDDED_IPV4)) : wide
}

export function isWithin(address: Address, [start, bits]: Range): boolean {
  return address.kind() === start.kind() && address.match(start as never, bits)
}
