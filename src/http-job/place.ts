/**
 * Where calls may go. What is public and https may be called without being named. `allow` names exceptions to that, `only` limits
 * everything, and what is judged is always an address together with the name that it was found by.
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { quote, type Report } from '../time/report.js'
import { isWithin, type Range, specialKind, unwrapped } from './address.js'

/** What a URL says of where to dial. */
export interface Target {
  /** Lower case, without brackets and without a dot at its end. */
  host: string
  port: number
  /** Plain http. */
  isPlain: boolean
}

/** An entry of `allow` or `only`. */
export interface Place {
  /** A name, or what it ends with where the entry began with `*.`; or a range of addresses. */
  where: { name: string; isSuffix: boolean } | { range: Range }
  port: number | null
  /** It began with `http://`. */
  permitsPlain: boolean
}

export interface Rules {
  allow: readonly Place[]
  /** Null for no limit. */
  only: readonly Place[] | null
}

export function targetOf(url: URL): Target {
  const isPlain = url.protocol === 'http:'
  const port = url.port === '' ? (isPlain ? 80 : 443) : Number(url.port)
  return { host: bareHost(url.hostname), port, isPlain }
}

/** Why this address must not be dialled for that target; null if it may. */
export function refusalOf(rules: Rules, target: Target, address: string): string | null {
  if (isIP(address) === 0) return `${quote(address)} is no address`
  const dialled = ipaddr.parse(address)
  // Also as it is written: who allows a range of NAT64 means just that.
  const written = [dialled, unwrapped(dialled)]
  const isThere = ({ where, port }: Place) =>
    (port === null || port === target.port) &&
    ('range' in where ? written.some((each) => isWithin(each, where.range)) : isNamed(target.host, where))
  if (rules.only && !rules.only.some(isThere)) {
    return `${placeText(target)} is not among the places that "only" of the job names`
  }
  const allowed = rules.allow.filter(isThere)
  if (allowed.some(({ permitsPlain }) => permitsPlain || !target.isPlain)) return null
  if (target.isPlain) {
    return `plain http is refused. Use https, or allow it: ${hint(`http://${placeText(target)}`)}`
  }
  const kind = specialKind(dialled)
  if (kind === null) return null
  const found = address === target.host ? address : `${target.host} is ${address}, which`
  return `${found} is ${kind}. If it is meant, allow it: ${hint(placeText(target))}`
}

const hint = (entry: string) =>
  `add ${JSON.stringify(entry)} to "allow" of the job (on the command line: to ESCAPEMENT_HTTP_ALLOW)`

const placeText = ({ host, port }: Target) => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

function isNamed(host: string, { name, isSuffix }: { name: string; isSuffix: boolean }): boolean {
  return isSuffix ? host.endsWith(`.${name}`) : host === name
}

const EXAMPLES =
  '"hooks.internal", "*.example.com", "10.0.0.0/8", "[fd00::7]:8443" or "http://localhost:3000"'
const PORT = /^(.*[^:]|\[.*\]):(\d{1,5})$/

export function readPlaces(given: unknown, field: string, report: Report): Place[] {
  if (!Array.isArray(given)) {
    report(field, `${quote(given)} – must be a list of places such as ${EXAMPLES}`)
    return []
  }
  return given.flatMap((entry, index) => readPlace(entry, `${field}[${index}]`, report) ?? [])
}

function readPlace(entry: unknown, field: string, report: Report): Place | undefined {
  const refuse = (why: string) => report(field, `${quote(entry)} – ${why}; write ${EXAMPLES}`)
  if (typeof entry !== 'string') return refuse('must be a text')
  const permitsPlain = /^http:\/\//i.test(entry)
  const text = entry.replace(/^https?:\/\//i, '')
  // Written out: of "192.168/16" the parser would make 192.0.0.168/16, and of "010.0.0.0/8" what is octal.
  if (isIP(text.split('/')[0]!) !== 0 && ipaddr.isValidCIDR(text)) {
    return { where: { range: ipaddr.parseCIDR(text) }, port: null, permitsPlain }
  }
  const isBareIpv6 = isIP(text) === 6
  const [, host = text, digits] = (isBareIpv6 ? null : PORT.exec(text)) ?? []
  const port = digits === undefined ? null : Number(digits)
  if (port !== null && (port < 1 || port > 65_535)) return refuse(`${port} is no port`)
  const isSuffix = host.startsWith('*.')
  const name = hostIn(isBareIpv6 ? `[${host}]` : host.replace(/^\*\./, ''))
  if (name === null || name.includes('*')) {
    return refuse('must be a host or a range of addresses, with nothing after it but a port')
  }
  if (isIP(name) === 0) return { where: { name, isSuffix }, port, permitsPlain }
  if (isSuffix) return refuse('addresses have no names below them; give a range')
  const address = ipaddr.parse(name)
  return { where: { range: [address, address.kind() === 'ipv4' ? 32 : 128] }, port, permitsPlain }
}

/** A host as URLs have it, whatever way it is written; null if it is none. */
function hostIn(text: string): string | null {
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : null
  const isHostAlone = url !== null && /^(?:\[[^\]]*\]|[^:/\\?#@\s]+)$/.test(text)
  return isHostAlone ? bareHost(url.hostname) : null
}

const bareHost = (hostname: string) => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
