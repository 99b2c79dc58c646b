import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineJob } from '../runs/job.js'
import { allJobs } from './built-in-jobs.js'

const own = defineJob('own', { handler: () => {} })
const namesOf = (config: Parameters<typeof allJobs>[0]) => allJobs(config).map(({ name }) => name)

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('the job http of the command line', () => {
  it('is there, unless the configuration has its own or wants none', () => {
    const another = defineJob('http', { handler: () => {} })
    expect(namesOf({})).toEqual(['http'])
    expect(namesOf({ jobs: [own] })).toEqual(['own', 'http'])
    expect(allJobs({ jobs: [another] })).toEqual([another])
    expect(namesOf({ jobs: [own], http: false })).toEqual(['own'])
  })

  it('is limited by the environment as well', async () => {
    const call = (allowed: object) => {
      const context = {
        run: { id: 'x', trigger: 'direct' },
        schedule: null,
        scope: null,
        planTime: null,
        previousPlanTime: null,
        input: { url: 'https://127.0.0.1:1/', sign: 'default' },
        signal: new AbortController().signal,
      }
      return allJobs({ http: allowed })[0]!.handler(context as never)
    }
    vi.stubEnv('ESCAPEMENT_HTTP_SECRET', `whsec_${'A'.repeat(32)}`)
    await expect(call({ allow: ['10.0.0.1'] })).rejects.toThrow('is loopback')
    vi.stubEnv('ESCAPEMENT_HTTP_ALLOW', ' 127.0.0.1:1 , hooks.internal,')
    await expect(call({ allow: ['10.0.0.1'] })).rejects.toThrow('ECONNREFUSED')
    vi.stubEnv('ESCAPEMENT_HTTP_ONLY', 'hooks.internal')
    await expect(call({})).rejects.toThrow('is not among the places')
    await expect(call({ only: ['127.0.0.1'] })).rejects.toThrow('ECONNREFUSED')
  })

  it('does not hide a mistake of the configuration behind the environment', () => {
    vi.stubEnv('ESCAPEMENT_HTTP_ALLOW', 'hooks.internal')
    vi.stubEnv('ESCAPEMENT_HTTP_ONLY', 'hooks.internal')
    vi.stubEnv('ESCAPEMENT_HTTP_SECRET', `whsec_${'A'.repeat(32)}`)
    const text = 'a' as never
    expect(() => allJobs({ http: { allow: text } })).toThrow('allow: "a"')
    expect(() => allJobs({ http: { only: text } })).toThrow('only: "a"')
    expect(() => allJobs({ http: { secrets: text } })).toThrow('secrets: must be an object')
  })

  it.each([
    ['ESCAPEMENT_HTTP_ALLOW', '*'],
    ['ESCAPEMENT_HTTP_ONLY', 'http://hooks.internal'],
    ['ESCAPEMENT_HTTP_SECRET', 'hunter2'],
  ])('refuses a wrong %s by its name', (name, value) => {
    vi.stubEnv(name, value)
    expect(() => allJobs({})).toThrowError(new RegExp(`^${name}: job "http": `))
  })
})
