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

it('is a UUIDv8 of the plan time, and of a UUIDv5 of the namespace and the name', () => {
  const id = runIdOf('a', 'b', Date.parse('2026-03-08T07:30:00.123Z'))
  const namespace = Buffer.from(RUN_ID_NAMESPACE.replaceAll('-', ''), 'hex')
  const digest = createHash('sha1').update(namespace).update('a|b|2026-03-08T07:30:00.123Z').digest('hex')
  const hex = id.replaceAll('-', '')
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(Number.parseInt(hex.slice(0, 12), 16)).toBe(Date.parse('2026-03-08T07:30:00.123Z'))
  expect(hex.slice(13, 16)).toBe(digest.slice(13, 16))
  expect(hex.slice(17)).toBe(digest.slice(17, 32))
})

it('is a UUID for every plan time that there can be', () => {
  for (const planTime of ['0001-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z']) {
    expect(runIdOf('a', 'b', Date.parse(planTime))).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-/)
  }
})

it('differs by schedule, scope and plan time', () => {
  const ids = [runIdOf('a', 'b', 0), runIdOf('c', 'b', 0), runIdOf('a', 'c', 0), runIdOf('a', 'b', 1)]
  expect(new Set(ids).size).toBe(4)
})
