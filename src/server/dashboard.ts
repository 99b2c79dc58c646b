/**
 * The dashboard's files. They hold no data, so nobody has to be known to get them: what they show they ask of the API,
 * as whoever is logged in. A browser gets the page at the address of every view; whoever asks for anything but a page
 * there is answered as if there were no dashboard.
 */
import { originalOf } from './altered-request.js'
import { type DashboardFile, type DashboardFiles, etagOf, readDashboardFiles } from './dashboard-files.js'
import { isOwnAnswer } from './own-answers.js'
import { problemResponse } from './problems.js'
import { DASHBOARD_POLICY } from './security-headers.js'

/** One folder beside this one in the package; from the sources it is what was built last. */
const FOLDER = new URL('../../dist/dashboard/', import.meta.url)
/** The first part of the address of each view. */
const VIEWS = ['schedules', 'new-schedule', 'runs', 'calendar', 'transitions', 'workers', 'tokens', 'audit']
/** As it is in the page that was built. */
const BASE = '<base href="./" />'
const ASSETS = '/assets/'
/** Their names change with their content. */
const FOR_EVER = 'public, max-age=31536000, immutable'

export interface Dashboard {
  /** Undefined for what is not the dashboard's. */
  answer(request: Request, path: string): Promise<Response | undefined>
}

export function createDashboard(prefix: string, folder: URL = FOLDER): Dashboard {
  let reading: Promise<DashboardFiles | null> | undefined
  const files = () => {
    reading ??= readDashboardFiles(folder).catch((error) => {
      reading = undefined
      throw error
    })
    return reading
  }

  async function page(request: Request, path: string): Promise<Response> {
    const index = (await files())?.get('index.html')
    if (!index) return missing()
    const html = Buffer.from(index.plain)
      .toString('utf8')
      .replace(BASE, () => `<base href="${path === '/' ? baseAtTop(prefix, request) : baseBelow(path)}" />`)
    return fileResponse(request.headers, {
      type: index.type,
      etag: etagOf(html),
      body: new TextEncoder().encode(html),
      more: { 'cache-control': 'no-cache', vary: 'accept' },
    })
  }

  async function asset(request: Request, path: string): Promise<Response> {
    const file = (await files())?.get(path.slice(1))
    if (!file) return problemResponse('not_found', { detail: 'There is no such file of the dashboard.' })
    const accepted = isOwnAnswer(request) ? request.headers.get('accept-encoding') : null
    const [encoding, body] = encodingFor(accepted ?? '', file)
    return fileResponse(request.headers, {
      type: file.type,
      etag: encoding === undefined ? file.etag : file.etag.replace(/"$/, `-${encoding}"`),
      body,
      more: {
        'cache-control': FOR_EVER,
        vary: 'accept-encoding',
        ...(encoding !== undefined && { 'content-encoding': encoding }),
      },
    })
  }

  return {
    async answer(request, path) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
      if (path.startsWith(ASSETS)) return asset(request, path)
      const [, view = ''] = path.split('/')
      if (path !== '/' && !VIEWS.includes(view)) return undefined
      if (/\btext\/html\b/i.test(request.headers.get('accept') ?? '')) return page(request, path)
      return path === '/' ? signpost(prefix) : undefined
    },
  }
}

/** Where the files are, seen from a view: so many steps up, whatever is before its path for the browser. */
function baseBelow(path: string): string {
  return '../'.repeat(path.split('/').length - 2) || './'
}

/**
 * Where they are, seen from the top, whose address may lack the slash at its end. Where a framework has taken the prefix
 * away, the option is all that is known of it.
 */
function baseAtTop(prefix: string, request: Request): string {
  const { pathname } = new URL(originalOf(request).url)
  if (pathname === '/') return prefix === '' ? './' : `${prefix}/`
  const [, last] = /\/([\w.~%-]+)$/.exec(pathname) ?? []
  return last === undefined ? './' : `./${last}/`
}

interface Sent {
  type: string
  etag: string
  body: Uint8Array<ArrayBuffer>
  more: Record<string, string>
}

function fileResponse(asked: Headers, { type, etag, body, more }: Sent): Response {
  const headers = { ...more, etag, 'content-security-policy': DASHBOARD_POLICY }
  const known = (asked.get('if-none-match') ?? '').split(',').map((text) => text.trim().replace(/^W\//, ''))
  if (known.includes(etag)) return new Response(null, { status: 304, headers })
  return new Response(body, {
    headers: { ...headers, 'content-type': type, 'content-length': String(body.byteLength) },
  })
}

function encodingFor(
  accepted: string,
  { plain, encoded }: DashboardFile,
): readonly ['br' | 'gzip' | undefined, Uint8Array<ArrayBuffer>] {
  const refused = /;\s*q=0(?:\.0*)?\s*$/
  const taken = accepted
    .toLowerCase()
    .split(',')
    .filter((part) => !refused.test(part))
    .map((part) => part.split(';')[0]!.trim())
  return [...encoded].find(([encoding]) => taken.includes(encoding)) ?? [undefined, plain]
}

/** For whoever asks with a program: where to go on. */
function signpost(prefix: string): Response {
  return Response.json(
    {
      name: 'Escapement',
      dashboard: 'Open this address in a browser.',
      api: `${prefix}/api/v1`,
      docs: `${prefix}/docs`,
      openapi: `${prefix}/openapi.json`,
      health: `${prefix}/health`,
    },
    { headers: { vary: 'accept' } },
  )
}

/** A bundler may have left the files behind. */
function missing(): Response {
  const text =
    "The dashboard's files are not here. They are in the folder dist/dashboard of the package escapement, beside its code: " +
    'a bundler that leaves it out must be told to keep the package as it is (in Next.js: serverExternalPackages). ' +
    'The API works without them. `dashboard: false` turns this page off.\n'
  return new Response(text, { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } })
}
