import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { commandLineOf, typescriptOf } from './code.ts'

const definition = {
  job: 'send-report',
  timing: { kind: 'cron', expression: '0 9 * * MON-FRI', zone: 'America/New_York', fold: 'both' },
  input: { customer: "O'Hara", 'a-b': [1, null] },
  group: 'all reports',
  scopes: ['eu', 'us west'],
  priority: -5,
  breaker: { failures: 3, cooldown: '1 hour' },
  deleteWhenDone: true,
}

it('writes a command line', () => {
  const command = commandLineOf('report:acme', definition)
  const words = execFileSync('sh', ['-c', `printf '%s\\n' ${command.replace('escapement ', '')}`], {
    encoding: 'utf8',
  })
  expect(words.trim().split('\n')).toEqual([
    ...['schedules', 'put', 'report:acme', '--job', 'send-report', '--cron', '0 9 * * MON-FRI'],
    ...['--zone', 'America/New_York', '--fold', 'both', '--input', `{"customer":"O'Hara","a-b":[1,null]}`],
    ...['--group', 'all reports', '--scope', 'eu', '--scope', 'us west', '--priority', '-5'],
    ...['--breaker', '3', '--breaker-cooldown', '1 hour', '--delete-when-done', '--create'],
  ])
})

it('writes an edit as one', () => {
  const patch = {
    scopes: null,
    catchUpWindow: null,
    input: null,
    timing: { kind: 'after', interval: '6 hours' },
  }
  expect(commandLineOf('s', patch, 4)).toBe(
    `escapement schedules patch s --clear scope --clear catch-up-window --input 'null' --after '6 hours' --if-version 4`,
  )
})

it('writes a program that does the same', async () => {
  const text = typescriptOf('report:acme', definition)
  expect(text).toContain(
    `import { cron } from 'escapement'\n\nawait escapement.schedules.put('report:acme', {\n`,
  )
  expect(text).toContain(
    `  timing: cron('0 9 * * MON-FRI', { zone: 'America/New_York', fold: 'both' }),\n  input: { customer: 'O\\'Hara', 'a-b': [1, null] },\n`,
  )
  const calls: unknown[] = []
  const escapement = { schedules: { put: async (...given: unknown[]) => void calls.push(given) } }
  const body = `return (async () => { ${text.replace(/^import.*$/m, '')} })()`
  const { cron } = await import('../../../../src/time/timing.js')
  await new Function('escapement', 'cron', body)(escapement, cron)
  expect(calls).toEqual([
    [
      'report:acme',
      { ...definition, timing: cron('0 9 * * MON-FRI', { zone: 'America/New_York', fold: 'both' }) },
    ],
  ])
  expect(typescriptOf('s', { group: null }, 4)).toBe(
    `await escapement.schedules.patch('s', {\n  group: null,\n}, { expectedVersion: 4 })`,
  )
})
