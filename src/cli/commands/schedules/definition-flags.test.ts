import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EscapementError } from '../../../errors.js'
import {
  type DefinitionFlags,
  definitionIn,
  type Fields,
  fieldsOf,
  withClearFlag,
  withDefinitionFlags,
} from './definition-flags.js'
import { namingFlags } from './flag-names.js'

function flagsOf(args: readonly string[]): DefinitionFlags & { clear?: string[] } {
  const command = withClearFlag(withDefinitionFlags(new Command())).exitOverride()
  return command
    .configureOutput({ writeErr() {} })
    .parse(args, { from: 'user' })
    .opts()
}

const fields = (args: readonly string[], current?: Fields) =>
  fieldsOf(flagsOf(args), current && (async () => current))

function fileOf(content: unknown): string {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'escapement-flags-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'definition.json')
  fs.writeFileSync(file, JSON.stringify(content))
  return file
}

describe('the flags of a definition', () => {
  it('give every field under its name', async () => {
    const args = [
      ...['--job', 'send', '--input', '{"a":1}', '--queue', 'mail', '--priority', '-3', '--group', 'acme'],
      ...['--scope', 'a', '--scope', 'b', '--description', 'words', '--metadata', '{"owner":"ann"}'],
      ...['--cron', '0 9 * * *', '--zone', 'Europe/Paris', '--gap', 'skip', '--fold', 'both'],
      ...['--start-at', '2026-12-01T09:00', '--end-at', '2027-12-01', '--limit', '5'],
      ...['--catch-up', 'all', '--catch-up-window', '2h', '--catch-up-limit', '7', '--grace', '5m'],
      ...[
        '--overlap',
        'skip',
        '--delay',
        '1h',
        '--jitter',
        '90s',
        '--breaker',
        '5',
        '--breaker-cooldown',
        '1h',
      ],
      '--delete-when-done',
    ]
    expect(await fields(args)).toEqual({
      job: 'send',
      input: { a: 1 },
      queue: 'mail',
      priority: -3,
      group: 'acme',
      scopes: ['a', 'b'],
      description: 'words',
      metadata: { owner: 'ann' },
      timing: { kind: 'cron', expression: '0 9 * * *', zone: 'Europe/Paris', gap: 'skip', fold: 'both' },
      startAt: '2026-12-01T09:00',
      endAt: '2027-12-01',
      limit: 5,
      catchUp: 'all',
      catchUpWindow: '2h',
      catchUpLimit: 7,
      grace: '5m',
      overlap: 'skip',
      delay: '1h',
      jitter: '90s',
      breaker: { failures: 5, cooldown: '1h' },
      deleteWhenDone: true,
    })
    expect(await fields([])).toEqual({})
  })

  it('override what a file gives, and read input from one', async () => {
    const file = fileOf({ job: 'send', group: 'acme', timing: { kind: 'every', every: '1h' } })
    expect(await fields(['--file', file, '--group', 'beta', '--input', `@${fileOf([1])}`])).toEqual({
      job: 'send',
      group: 'beta',
      input: [1],
      timing: { kind: 'every', every: '1h' },
    })
  })

  it('change a part of the timing or of the breaker that there is', async () => {
    const current = {
      timing: { kind: 'cron', expression: '0 9 * * *', zone: 'UTC' },
      breaker: { failures: 5, cooldown: null },
    }
    expect(await fields(['--zone', 'Asia/Tokyo', '--breaker-cooldown', '1h'], current)).toEqual({
      timing: { kind: 'cron', expression: '0 9 * * *', zone: 'Asia/Tokyo' },
      breaker: { failures: 5, cooldown: '1h' },
    })
    expect(await fields(['--breaker', '3'], current)).toEqual({ breaker: { failures: 3 } })
  })

  it.each([
    [['--zone', 'Asia/Tokyo'], /^Give exactly one of --cron, --every, --at, --after, --rrule\.$/],
    [['--cron', '* * * * *', '--every', '1h'], /not 2\.$/],
    [['--input', '{a:1}'], /^--input: is no JSON: .* single quotes: --input '/],
    [['--input', '@/no/such/file'], /^--input: cannot read \/no\/such\/file: ENOENT/],
    [['--input', '-', '--metadata', '-'], /^Only one of --file, --input and --metadata can be read/],
  ])('%j are refused', async (args, message) => {
    await expect(fields(args)).rejects.toThrow(message)
  })

  it('name a field to clear as its flag, and know no other', () => {
    expect(flagsOf(['--clear', 'group', '--clear', 'catch-up-window', '--clear', 'scopes']).clear).toEqual([
      'group',
      'catchUpWindow',
      'scopes',
    ])
    expect(() => flagsOf(['--clear', 'catch-up-windw'])).toThrow(/did you mean "catch-up-window"/)
    expect(() => flagsOf(['--clear', 'job'])).toThrow(/must be one of input, queue/)
  })
})

describe('a schedule that was printed', () => {
  it('is a definition without where it stands and what is not set', () => {
    const printed = {
      id: 'x',
      name: 'report',
      version: 3,
      state: 'active',
      stateNote: null,
      nextAt: null,
      job: 'send',
      group: null,
      breaker: { failures: 5, cooldown: null },
      createdAt: 'x',
      updatedAt: 'x',
    }
    expect(definitionIn(printed)).toEqual({ job: 'send', breaker: { failures: 5 } })
  })
})

describe('a mistake that the server finds', () => {
  const said = (flags: DefinitionFlags, message: string) =>
    namingFlags(flags, () => Promise.reject(new EscapementError('schedule_invalid', { message }))).catch(
      (error) => error.message,
    )

  it.each([
    ['timing.expression: "61 * * * *" – minute 61', '--cron: "61 * * * *" – minute 61'],
    ['timing: is missing', '--cron, --every, --at, --after or --rrule: is missing'],
    ['timing.gap: unknown field', '--gap: does not go with this kind of timing'],
    ['catchUpWindow: "x" – no\nscopes: [] – no', '--catch-up-window: "x" – no\n--scope: [] – no'],
    ['breaker.failures: 0 – no', '--breaker: 0 – no'],
    ['input.customer: is missing', '--input customer: is missing'],
    ['input.lines[3].at: is missing', '--input lines[3].at: is missing'],
    ['name: "a b" – use letters', 'name: "a b" – use letters'],
    ['It was changed: read it again.', 'It was changed: read it again.'],
  ])('%s', async (message, reworded) => {
    expect(await said({}, message)).toBe(reworded)
  })

  it('keeps the name of a field that came from a file', async () => {
    const message = 'grace: "x" – no\nqueue: 7 – no'
    expect(await said({ file: 'a.json', grace: 'x' }, message)).toBe('--grace: "x" – no\nqueue: 7 – no')
  })
})
