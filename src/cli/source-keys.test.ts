import { describe, expect, it } from 'vitest'
import { type KeyPath, placeOfKey } from './source-keys.js'

/** The line that is found, as it is written. */
function found(source: string, ...path: KeyPath): string | undefined {
  const place = placeOfKey(source, path)
  return place && source.split('\n')[place.line - 1]!.slice(place.column - 1)
}

const CONFIG = `#!/usr/bin/env node
/* export default { jobs: 'not this' } */
import { cron, defineConfig as unused } from 'escapement' // export default {
const text = "it's { not \\" a bracket", size: number = 7 / 2 / 1
const pattern = /[/'"{]\\/{/.test(text)
const greeting = \`{ \${[1, '}'].map((n) => \`\${n}}\`)} "\`
type Pair = { a: { b: 1 }; jobs: [] }

export default defineConfig({
  jobs: [
    greet,
    // the third
    defineJob('x', { handler: () => ({ jobs: 1, schedules: 2 }) }), stranger,
  ],
  handlers: { async later() { return { schedules: 1 } }, get now() { return 1 }, *all() {} },
  'schedules': {
    'demo:every-minute': { job: greet, timing: cron('61 * * * *'), retry: { backoff: ['1s', 'soon'] } },
    weekly: { job: 'x', timing: { kind: 'every', every: 'soon' } },
    [computed]: { job: 'y' },
    7: { job: 'z' },
    ...others,
    last: weeklyOne,
  },
  options: { worker: { concurrency: 0 }, } as const,
} satisfies Config)
`

describe('the place of a key', () => {
  it.each([
    [['jobs'], 'jobs: ['],
    [['jobs', 1], "defineJob('x', { handler: () => ({ jobs: 1, schedules: 2 }) }), stranger,"],
    [['jobs', 2], 'stranger,'],
    [['handlers', 'later'], 'later() { return { schedules: 1 } }, get now() { return 1 }, *all() {} },'],
    [['handlers', 'all'], 'all() {} },'],
    [['schedules'], "'schedules': {"],
    [['schedules', 'weekly', 'timing', 'every'], "every: 'soon' } },"],
    [['schedules', 'demo:every-minute', 'retry', 'backoff', 1], "'soon'] } },"],
    [['schedules', '7', 'job'], "job: 'z' },"],
    [['schedules', 'last'], 'last: weeklyOne,'],
    [['options', 'worker', 'concurrency'], 'concurrency: 0 }, } as const,'],
  ])('is found: %j', (path, text) => {
    expect(found(CONFIG, ...path)).toBe(text)
  })

  it.each([
    ['what a call makes', ['schedules', 'demo:every-minute', 'timing', 'expression'], 'timing: cron('],
    ['what is not there', ['schedules', 'weekly', 'input', 'customer'], 'weekly: {'],
    ['what another file has', ['schedules', 'last', 'timing'], 'last: weeklyOne,'],
    ['what a computed key has', ['schedules', 'computed', 'job'], "'schedules': {"],
  ])('is that of the last key that is sure, for %s', (_, path, text) => {
    expect(found(CONFIG, ...path)?.slice(0, text.length)).toBe(text)
  })

  it('follows constants of the same file, and no circle of them', () => {
    const source = `
const schedules: Record<string, { job: string }> = {
  a: shared,
}
const shared = { job: 'x' }
const round = again, again = round
const config = defineConfig({ schedules, jobs: round })
export default config`
    expect(found(source, 'schedules', 'a', 'job')).toBe("job: 'x' }")
    expect(found(source, 'jobs', 0)).toBe('jobs: round })')
  })

  it('is found in CommonJS, in parentheses, with line ends of Windows', () => {
    expect(found('module.exports = ({\n jobs: [] })', 'jobs')).toBe('jobs: [] })')
    expect(placeOfKey('export default {\r\n  jobs: [],\r\n  x: 1 }', ['x'])).toEqual({ line: 3, column: 3 })
  })

  it.each([
    ['no default export', 'export const jobs = []'],
    ['a default export that is imported', "import config from './other'\nexport default config"],
    ['a default export that is made by a function', 'export default make({ jobs: [] })'],
    ['what a method makes of it', 'export default { jobs: [] }.jobs'],
    ['a comma of type arguments', 'export default { x: make<A, B>(), jobs: [] }'],
    ['a string that does not end', "export default { x: 'oh, jobs: [] }\n"],
    ['a bracket without a partner', 'export default { x: [), jobs: [] }'],
    ['a template that does not end', 'export default { x: `never, jobs: [] }'],
  ])('is not told for %s', (_, source) => {
    expect(placeOfKey(source, ['jobs'])).toBeUndefined()
  })

  it('is that of the last where one is given twice', () => {
    expect(found('export default {\n jobs: [a],\n jobs: [b] }', 'jobs', 0)).toBe('b] }')
  })

  it('is not told of a list after what is spread into it', () => {
    expect(found('export default { jobs: [a, ...more, b] }', 'jobs', 2)).toBe('jobs: [a, ...more, b] }')
    expect(found('export default { jobs: [a, ...more, b] }', 'jobs', 0)).toBe('a, ...more, b] }')
    expect(found('export default { jobs: [a, b].flat() }', 'jobs', 0)).toBe('jobs: [a, b].flat() }')
  })
})
