import { expect, it, vi } from 'vitest'
import { harmless } from './harmless.js'
import { show } from './output.js'
import { createPrintLogger } from './print-logger.js'

it('a text of others is shown, and obeyed by no terminal', () => {
  expect(harmless('a\u001b]0;title\u0007\u001b[2J\u001b[8mb\r\u009b2J\u007f')).toBe(
    'a␛]0;title␇␛[2J␛[8mb␍\ufffd2J␡',
  )
  const kept = 'plain ü 日本 😀\n\tline \u001b[31mred\u001b[39m \u001b[1mbold\u001b[22m'
  expect(harmless(kept)).toBe(kept)
})

it('is what commands and processes print', () => {
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line))
  const error = vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(line))
  show({}, null, () => 'description \u001b[2J')
  createPrintLogger('error').error({ err: new Error('\u001b[2J') }, 'failed')
  log.mockRestore()
  error.mockRestore()
  expect(lines).toEqual(['description ␛[2J', expect.stringContaining('failed (␛[2J)')])
})
