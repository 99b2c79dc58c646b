import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDashboard } from './dashboard.js'
import { noteOwnAnswer } from './own-answers.js'
import { underPrefix } from './prefix.js'

const SCRIPT = 'console.log("of the dashboard")'
let folder: string
beforeAll(() => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-dashboard-'))
  folder = path.join(root, 'dashboard')
  fs.mkdirSync(path.join(folder, 'assets'), { recursive: true })
  fs.writeFileSync(path.join(root, 'secret.js'), 'not ours to give')
  fs.writeFileSync(path.join(folder, 'index.html'), '<base href="./" /><script src="./assets/a.js"></script>')
  fs.writeFileSync(path.join(folder, 'assets/a.js'), SCRIPT)
  fs.writeFileSync(path.join(folder, 'assets/a.js.br'), brotliCompressSync(SCRIPT))
  fs.writeFileSync(path.join(folder, 'assets/a.js.gz'), gzipSync(SCRIPT))
})
afterAll(() => fs.rmSync(path.dirname(folder), { recursive: true }))

function ask(pathname: string, headers: Record<string, string> = {}, prefix = '', from = folder) {
  const request = new Request(`http://localhost${pathname}`, { headers })
  noteOwnAnswer(request)
  return createDashboard(prefix, pathToFileURL(`${from}/`)).answer(request, new URL(request.url).pathname)
}

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('the page', () => {
  it.each([
    ['/', '', './'],
    ['/', '/internal/jobs', '/internal/jobs/'],
    ['/schedules', '', './'],
    ['/schedules', '/internal/jobs', './'],
    ['/schedules/', '', '../'],
    ['/schedules/report%3Aacme', '/internal/jobs', '../'],
    ['/schedules/a/b?q=%22%3E', '', '../../'],
  ])('at %s under "%s" finds its files at %s', async (address, prefix, base) => {
    const response = (await ask(address, html, prefix))!
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(`<base href="${base}" /><script src="./assets/a.js"></script>`)
  })

  it.each([
    ['/ops/internal/jobs', './jobs/'],
    ['/ops/internal/%6Aobs', './%6Aobs/'],
    ['/ops/internal/jobs/', './'],
    ['/ops/internal/jobs/schedules', './'],
  ])('at %s, where the prefix was taken away here, finds its files at %s', async (address, base) => {
    const dashboard = createDashboard('/never/seen', pathToFileURL(`${folder}/`))
    const mounted = underPrefix(
      underPrefix(
        async (request) => (await dashboard.answer(request, new URL(request.url).pathname))!,
        '/jobs',
      ),
      '/ops/internal',
    )
    const response = await mounted(new Request(`http://localhost${address}`, { headers: html }))
    expect(await response.text()).toContain(`<base href="${base}" />`)
  })

  it('is asked for again each time, and sent only where it is another', async () => {
    const first = (await ask('/', html))!
    expect(first.headers.get('cache-control')).toBe('no-cache')
    const etag = first.headers.get('etag')!
    const again = (await ask('/', { ...html, 'if-none-match': `"x", W/${etag}` }))!
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await ask('/', { ...html, 'if-none-match': etag }, '/other'))!.status).toBe(200)
  })

  it('may run nothing inline, load nothing from elsewhere, and be framed by nobody', async () => {
    const policy = (await ask('/', html))!.headers.get('content-security-policy')
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    expect(policy).toMatch(/base-uri 'self'; frame-ancestors 'none'$/)
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
  })

  it('is for browsers: a program is told where to go on', async () => {
    const response = (await ask('/', { accept: 'application/json' }, '/jobs'))!
    expect(await response.json()).toMatchObject({ api: '/jobs/api/v1', docs: '/jobs/docs' })
    expect((await ask('/', { accept: '*/*' }))!.headers.get('content-type')).toContain('application/json')
    expect(await ask('/schedules/a', { accept: '*/*' })).toBeUndefined()
  })

  it('leaves to others what is not a view', async () => {
    for (const address of ['/api/v1/schedules', '/docs', '/health', '/schedulesx', '//schedules']) {
      expect([address, await ask(address, html)]).toEqual([address, undefined])
    }
  })

  it('says plainly where its files were left out', async () => {
    const response = (await ask('/', html, '', path.join(folder, 'nowhere')))!
    expect(response.status).toBe(404)
    expect(await response.text()).toMatch(/^The dashboard's files are not here\..*serverExternalPackages/)
  })
})

describe('a file', () => {
  it.each([
    ['gzip, deflate, br', 'br', brotliCompressSync(SCRIPT)],
    ['gzip;q=1.0, br;q=0', 'gzip', gzipSync(SCRIPT)],
    ['identity', null, Buffer.from(SCRIPT)],
  ])('for who accepts "%s" is sent as %s', async (accepted, encoding, bytes) => {
    const response = (await ask('/assets/a.js', { 'accept-encoding': accepted }))!
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(bytes.byteLength),
      vary: 'accept-encoding',
    })
    expect(response.headers.get('content-encoding')).toBe(encoding)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes)
    const etag = response.headers.get('etag')!
    const again = (await ask('/assets/a.js', { 'accept-encoding': accepted, 'if-none-match': etag }))!
    expect(again.status).toBe(304)
  })

  it('is not compressed where a framework writes the answer, which may not say so', async () => {
    const dashboard = createDashboard('', pathToFileURL(`${folder}/`))
    const request = new Request('http://localhost/assets/a.js', { headers: { 'accept-encoding': 'br' } })
    const response = (await dashboard.answer(request, '/assets/a.js'))!
    expect([response.headers.get('content-encoding'), await response.text()]).toEqual([null, SCRIPT])
  })

  it.each([
    '/assets/b.js',
    '/assets/a.js.br',
    '/assets/',
    '/assets/..%2findex.html',
    '/assets/..%2f..%2fsecret.js',
    '/assets/%2e%2e%5c%2e%2e%5csecret.js',
  ])('that is none of ours is not there: %s', async (address) => {
    expect((await ask(address))!.status).toBe(404)
  })
})
