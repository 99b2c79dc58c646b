import fs from 'node:fs'
import { register } from 'prom-client'
import { expect, it } from 'vitest'
import { every } from '../../src/index.js'
import { createHandler } from '../../src/server/handler.js'
import { createMetrics } from '../../src/server/metrics.js'
import { alteredDatabase } from '../support/database.js'
import { openHarness } from '../support/harness.js'
import { movableClock } from '../support/movable-clock.js'

const AT = '2026-03-01T12:00:00Z'

/** The lines of a metric, without its help, type and buckets. */
function linesOf(text: string, name: string): string[] {
  return text.split('\n').filter((line) => line.startsWith(name) && !line.includes('_bucket'))
}

it('counts what this process does, by job, state and queue', async () => {
  const h = await openHarness({ at: AT })
  const metrics = createMetrics(h.escapement)
  h.job('works', { handler: () => {} })
  h.job('fails', {
    retry: { attempts: 2, backoff: ['1s'] },
    handler: () => {
      throw new Error('on purpose')
    },
  })
  await h.schedules.put('s', { job: 'works', timing: every('1 minute') })
  await h.runs.enqueue('fails', null)
  const { id } = await h.runs.enqueue('works', null, { at: { in: '1 hour' } })
  await h.runs.cancel(id)
  h.jump('61.5 seconds')
  await h.advance('1 second')
  const text = await metrics.text()
  expect(linesOf(text, 'escapement_runs_').sort()).toEqual([
    'escapement_runs_ended_total{job="fails",state="failed"} 1',
    'escapement_runs_ended_total{job="works",state="cancelled"} 1',
    'escapement_runs_ended_total{job="works",state="succeeded"} 1',
    'escapement_runs_retried_total{job="fails"} 1',
  ])
  expect(linesOf(text, 'escapement_attempt_duration_seconds_count').sort()).toEqual([
    'escapement_attempt_duration_seconds_count{job="fails"} 2',
    'escapement_attempt_duration_seconds_count{job="works"} 1',
  ])
  // One was asked for at once and claimed 61.5 seconds later, the other was due at the minute; a second attempt does not count.
  expect(linesOf(text, 'escapement_run_lateness_seconds')).toEqual([
    'escapement_run_lateness_seconds_sum{queue="default"} 63',
    'escapement_run_lateness_seconds_count{queue="default"} 2',
  ])
  expect(text).toContain('escapement_run_lateness_seconds_bucket{le="60",queue="default"} 1')
  expect(linesOf(text, 'escapement_claimed_runs_total')).toEqual(['escapement_claimed_runs_total 3'])
  expect(linesOf(text, 'escapement_tick_schedules_total')).toEqual(['escapement_tick_schedules_total 1'])
  expect(linesOf(text, 'escapement_tick_runs_total')).toEqual(['escapement_tick_runs_total 1'])
  for (const name of ['tick', 'claim', 'sweep']) {
    expect(text).toMatch(new RegExp(`^escapement_${name}_duration_seconds_count [1-9]`, 'm'))
  }
  metrics.close()
  await h.runs.enqueue('works', null)
  await h.advance('0s')
  expect(linesOf(await metrics.text(), 'escapement_claimed_runs_total')).toEqual([
    'escapement_claimed_runs_total 3',
  ])
})

it('shows how things stand when it is asked, and keeps that for a few seconds', async () => {
  const h = await openHarness({ at: AT })
  const move = movableClock()
  const metrics = createMetrics(h.escapement)
  h.job('noop', { handler: () => {} })
  await h.schedules.put('s', { job: 'noop', timing: every('1 hour') })
  await h.schedules.put('t', { job: 'noop', timing: every('1 hour'), paused: true })
  await h.runs.enqueue('noop', null, { queue: 'mail' })
  await h.runs.enqueue('noop', null, { queue: 'mail', at: { in: '1 hour' } })
  await h.escapement.claiming.pause()
  h.jump('90 seconds')
  const text = await metrics.text()
  expect(linesOf(text, 'escapement_queue').sort()).toEqual([
    'escapement_queue_depth{queue="mail",state="ready"} 1',
    'escapement_queue_depth{queue="mail",state="waiting"} 1',
    'escapement_queue_oldest_ready_seconds{queue="mail"} 90',
  ])
  expect(linesOf(text, 'escapement_schedules').sort()).toEqual([
    'escapement_schedules{state="active"} 1',
    'escapement_schedules{state="broken"} 0',
    'escapement_schedules{state="finished"} 0',
    'escapement_schedules{state="paused"} 1',
  ])
  expect(linesOf(text, 'escapement_claiming_paused')).toEqual(['escapement_claiming_paused 1'])
  expect(linesOf(text, 'escapement_workers')).toEqual(['escapement_workers 0'])
  await h.escapement.claiming.resume()
  const paused = async () => linesOf(await metrics.text(), 'escapement_claiming_paused')
  expect(await paused()).toEqual(['escapement_claiming_paused 1'])
  move(5_000)
  expect(await paused()).toEqual(['escapement_claiming_paused 0'])
})

it('answers without the database, and says that it is away instead of showing nought', async () => {
  let isAway = false
  const database = await alteredDatabase((shared) => ({
    query: async (text, params) => {
      if (isAway) throw new Error('away')
      return shared.query(text, params)
    },
  }))
  const h = await openHarness({ at: AT, database })
  const move = movableClock()
  const metrics = createMetrics(h.escapement)
  expect(await metrics.text()).toContain('\nescapement_database_up 1\n')
  isAway = true
  move(5_000)
  const text = await metrics.text()
  isAway = false
  expect(text).toContain('\nescapement_database_up 0\n')
  expect(text).toMatch(/^process_resident_memory_bytes \d+/m)
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m)
  for (const name of ['workers', 'claiming_paused', 'schedules', 'queue_depth']) {
    expect(linesOf(text, `escapement_${name}`)).toEqual([])
  }
})

it('asks the database once for all who ask at the same time', async () => {
  let asked = 0
  const database = await alteredDatabase((shared) => ({
    query: (text, params) => {
      asked += 1
      return shared.query(text, params)
    },
  }))
  const h = await openHarness({ at: AT, database })
  asked = 0
  const [first, second] = [createMetrics(h.escapement), createMetrics(h.escapement)]
  await Promise.all([first.text(), first.text(), second.text()])
  expect(asked).toBe(5)
})

it('leaves the registry of the program alone', async () => {
  const h = await openHarness({ at: AT })
  await createMetrics(h.escapement).text()
  expect(register.getMetricsAsArray()).toEqual([])
})

it('is at /metrics, counting from when it was first asked for', async () => {
  const h = await openHarness({ at: AT })
  const handler = createHandler(h.escapement, { auth: 'local' })
  h.job('noop', { handler: () => {} })
  const scrape = () => handler(new Request('http://localhost/metrics'))
  const first = await scrape()
  expect(first.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  await h.runs.enqueue('noop', null)
  await h.advance('0s')
  const text = await (await scrape()).text()
  expect(text).toContain('\nescapement_runs_ended_total{job="noop",state="succeeded"} 1\n')
  expect(text).not.toMatch(/^escapement_loop_stuck\{/m)
})

it('has each metric that the guide names, and none that it does not', async () => {
  const h = await openHarness({ at: AT })
  const text = await createMetrics(h.escapement).text()
  const guide = fs.readFileSync(new URL('../../docs/guide/monitoring.md', import.meta.url), 'utf8')
  const named = [...guide.matchAll(/^\| `(escapement_\w+)`/gm)].map((match) => match[1]!)
  const had = [...text.matchAll(/^# TYPE (escapement_\w+) /gm)].map((match) => match[1]!)
  expect(named.sort()).toEqual(had.sort())
})
