import { CommanderError } from 'commander'
import { describe, expect, it } from 'vitest'
import { type ErrorCode, EscapementError } from '../errors.js'
import { exitStatusOf } from './exit-status.js'

describe('the exit status', () => {
  it.each([
    ['schedule_not_found', 1],
    ['option_invalid', 2],
    ['timing_invalid', 2],
    ['config_invalid', 2],
    ['server_unreachable', 3],
    ['database_unreachable', 3],
    ['unauthorized', 4],
    ['forbidden', 4],
  ] as [ErrorCode, number][])('of %s is %i', (code, status) => {
    expect(exitStatusOf(new EscapementError(code, { message: '' }))).toBe(status)
  })

  it('is 2 where the command line is wrong, and 0 where help was asked for', () => {
    expect(exitStatusOf(new CommanderError(1, 'commander.unknownOption', ''))).toBe(2)
    expect(exitStatusOf(new CommanderError(0, 'commander.helpDisplayed', ''))).toBe(0)
    expect(exitStatusOf(new Error('else'))).toBe(1)
  })
})
