import { expect, it } from 'vitest'
import { underPrefix } from './prefix.js'

const pathOf = async (path: string, prefix = '/escapement') => {
  const handler = underPrefix(async (request) => new Response(request.url), prefix)
  return (await (await handler(new Request(`http://host:1${path}`))).text()).replace('http://host:1', '')
}

it.each([
  ['/escapement', '/'],
  ['/escapement/', '/'],
  ['/escapement?limit=1', '/?limit=1'],
  ['/escapement/api/v1/schedules?q=%2Fescapement', '/api/v1/schedules?q=%2Fescapement'],
  ['/escapement/api/a%2Fb%20c', '/api/a%2Fb%20c'],
  ['/escap%65ment/api', '/api'],
  ['/escapement//evil.example/x', '//evil.example/x'],
  ['/escapement/escapement/api', '/escapement/api'],
  ['/escapement/x/../api', '/api'],
])('takes the prefix away from %s', async (path, rest) => {
  expect(await pathOf(path)).toBe(rest)
})

it.each([
  ['/', '/'],
  ['/api/v1/schedules', '/api/v1/schedules'],
  ['/escapement2/api', '/escapement2/api'],
  ['/Escapement/api', '/Escapement/api'],
  ['/escapement%2Fapi', '/escapement%2Fapi'],
  ['/escapement%', '/escapement%'],
  ['//escapement/api', '//escapement/api'],
  ['/x/escapement/api', '/x/escapement/api'],
  ['/escapement/../api', '/api'],
  ['/escapement/%2e%2e/api', '/api'],
])('leaves %s as it is', async (path, rest) => {
  expect(await pathOf(path)).toBe(rest)
})

it('takes prefixes of several parts', async () => {
  expect(await pathOf('/internal/jobs/api', '/internal/jobs')).toBe('/api')
  expect(await pathOf('/internal', '/internal/jobs')).toBe('/internal')
})

it.each([
  '',
  '/',
  'escapement',
  '/escapement/',
  '/a//b',
  '/a/../b',
  '/.',
  '/a%20b',
  '/a b',
  '/a?b',
  '/:x',
  7,
])('refuses the prefix %j and says what one looks like', (prefix) => {
  const refused = expect.objectContaining({
    code: 'option_invalid',
    message: expect.stringContaining(
      `prefix: ${JSON.stringify(prefix)} – must be a path such as "/escapement"`,
    ),
  })
  expect(() => underPrefix(async () => new Response(), prefix as string)).toThrow(refused)
})

it('passes on method, headers, body and the signal', async () => {
  const controller = new AbortController()
  let seen: Request | undefined
  const handler = underPrefix(async (request) => {
    seen = request
    return new Response(await request.text())
  }, '/escapement')
  const init = { method: 'PUT', headers: { 'if-match': '"3"' }, body: 'content', signal: controller.signal }
  const response = await handler(new Request('http://host/escapement/x', init))
  expect(await response.text()).toBe('content')
  expect(seen).toMatchObject({ method: 'PUT', url: 'http://host/x' })
  expect(seen!.headers.get('if-match')).toBe('"3"')
  controller.abort()
  expect(seen!.signal.aborted).toBe(true)
})
