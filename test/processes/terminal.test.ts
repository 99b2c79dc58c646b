import { describe, expect, it } from 'vitest'
import { spawnEscapement } from '../support/escapement-process.js'
import { inTerminal } from '../support/terminal.js'

const preview = [
  'preview',
  '--cron',
  '0 9 * * MON-FRI',
  '--zone',
  'Europe/Paris',
  '--from',
  '2026-03-27',
  '--count',
  '2',
]

describe('at a terminal', () => {
  it('a table fits, whatever its width', async () => {
    const { status, screen } = await inTerminal(preview, { columns: 60 })
    expect(status).toBe(0)
    expect(screen.split('\n').every((line) => line.length <= 60)).toBe(true)
    expect(screen).toContain('EUROPE/PAR…')
  })

  it('a mistake is red, and elsewhere there are no colours', async () => {
    const { status, raw } = await inTerminal(['preview'])
    expect(status).toBe(2)
    expect(raw).toContain('\u001b[31merror:\u001b[39m Give exactly one of --cron')
    const { ended, lines } = spawnEscapement(['preview', '--json'], { env: { NO_COLOR: '', CI: 'true' } })
    expect(await ended).toBe(2)
    expect(JSON.parse(lines[0]!).error).toMatchObject({ code: 'option_invalid' })
  })
})
