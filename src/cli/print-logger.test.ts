import { stripVTControlCharacters } from 'node:util'
import { expect, it, vi } from 'vitest'
import { LOG_LEVELS, type LogLevel } from './log-level.js'
import { createPrintLogger } from './print-logger.js'

/** What each level writes, and where to. */
function written(level: LogLevel): string[] {
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(`out ${line}`))
  const error = vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(`err ${line}`))
  const logger = createPrintLogger(level)
  for (const name of ['debug', 'info', 'warn', 'error'] as const) logger[name]({ n: 1 }, name)
  log.mockRestore()
  error.mockRestore()
  return lines
}

it('writes what is of its level or above, with warnings and errors to standard error', () => {
  expect(LOG_LEVELS.map((level) => written(level).length)).toEqual([4, 3, 2, 1, 0])
  const shown = written('debug').map((line) => stripVTControlCharacters(line))
  expect(shown).toEqual(['out debug (n 1)', 'out info (n 1)', 'err warn (n 1)', 'err error (n 1)'])
})
