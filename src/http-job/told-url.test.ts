import { describe, expect, it } from 'vitest'
import { toldUrl } from './told-url.js'

const told = (path: string) =>
  toldUrl(new URL(`https://example.com${path}`)).slice('https://example.com'.length)

describe('a URL that is told', () => {
  it.each([
    '/',
    '/hook',
    '/api/v2/users/42/sendMessage',
    '/daily-report/2026-03-01',
    '/report%3Aacme',
    '/a//b/',
    '/feed.json',
  ])('is told whole: %s', (path) => {
    expect(told(path)).toBe(path)
  })

  it.each([
    ['/hook?token=secret#part', '/hook'],
    ['/services/T0001/B0001/XXXXXXXXXXXXXXXXXXXXXXXX', '/services/…'],
    ['/api/webhooks/1194403427511681095/aBcD-eF_gh/slack', '/api/webhooks/…'],
    ['/bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage', '/…'],
    ['/hooks/9f86d081884c7d659a2feaa0c55ad015', '/hooks/…'],
    ['/hooks/0b9c2f2e-6f3a-4c58-9d5c-2f6f5c1e7a10', '/hooks/…'],
    [`/hooks/${'abcdefgh'.repeat(5)}`, '/hooks/…'],
    ['/hooks/YWJjZGVm%3D%3D', '/hooks/…'],
  ])('is told without what may be a key: %s', (path, expected) => {
    expect(told(path)).toBe(expected)
  })
})
