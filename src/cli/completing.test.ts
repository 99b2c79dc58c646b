import { describe, expect, it } from 'vitest'
import { type AskNames, completionsOf } from './completing.js'
import { createProgram } from './program.js'

const program = createProgram()
const known: AskNames = async (kind) =>
  kind === 'job' ? ['send-report', 'sync'] : kind === 'schedule' ? ['report:acme'] : ['acme']
const complete = (line: string) => completionsOf(program, line.split(' '), known)

describe('a shell completes', () => {
  it.each([
    ['sched', ['scheduler', 'schedules']],
    ['runs l', ['list']],
    ['runs ', ['list', 'get', 'enqueue', 'cancel', 'retry', 'help']],
    ['runs list --st', ['--state']],
    ['runs list --trigger ', ['scheduled', 'manual', 'backfill', 'direct']],
    ['runs list --json --trigger m', ['manual']],
    ['runs enqueue s', ['send-report', 'sync']],
    ['runs enqueue sync ', []],
    ['runs list --schedule ', ['report:acme']],
    ['tokens create --group ', ['acme']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['runs list --queue ', []],
  ])('%j', async (line, expected) => {
    expect(await complete(line)).toEqual(expected)
  })

  it('without naming what is hidden', async () => {
    expect(await complete('comp')).toEqual(['completion'])
  })
})
