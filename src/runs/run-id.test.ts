import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { expect, it } from 'vitest'
import { directRunIdOf, RUN_ID_NAMESPACE, runIdOf } from './run-id.js'

const page = fs.readFileSync(new URL('../../docs/reference/run-ids.md', import.meta.url), 'utf8')

it('gives the id that the documentation promises', () => {
  const [, schedule, scope, planTime, runId] = /^\| `(.+?)` \| `(.+?)` \| `(.+?)` \| `(.+?)` \|$/m.exec(page)!
  expect(runIdOf(schedule!, scope!, Date.parse(planTime!))).toBe(runId)
  expect(page).toContain(RUN_ID_NAMESPACE)
})

it('gives a direct run with a key the id that the documentation promises', () => {
  const [, job, key, runId] = /^\| `(.+?)` +\| `(.+?)` +\| `(.+?)` \|$/m.exec(
    page.split('## Direct runs')[1]!,
  )!
  expect(directRunIdOf(job!, key!)).toBe(runId)
  expect(runId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

it('is a UUIDv5 of the namespace and the name', () => {
  const id = runIdOf('a', 'b', 0)
  const namespace = Buffer.from(RUN_ID_NAMESPACE.replaceAll('-', ''), 'hex')
  const digest = createHash('sha1').update(namespace).update('a|b|1970-01-01T00:00:00.000Z').digest('hex')
  const hex = id.replaceAll('-', '')
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(hex.slice(0, 12)).toBe(digest.slice(0, 12))
  expect(hex.slice(17)).toBe(digest.slice(17, 32))
})

it('differs by schedule, scope and plan time', () => {
  const ids = [runIdOf('a', 'b', 0), runIdOf('c', 'b', 0), runIdOf('a', 'c', 0), runIdOf('a', 'b', 1)]
  expect(new Set(ids).size).toBe(4)
})
