import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { spawnEscapement } from '../support/escapement-process.js'
import { inShell, installIn, inTerminal } from '../support/terminal.js'

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

const demo = fileURLToPath(new URL('../../examples/demo/escapement.config.ts', import.meta.url))

function installed(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-bin-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  return installIn(folder)
}

describe('whoever reads what is written', () => {
  it('may leave: a command that runs on then stops in order, and has failed', () => {
    const script = `escapement up --port 0 --database memory: --config ${demo} | head -1; echo "\${PIPESTATUS[0]}"`
    const env = { ...process.env, PATH: `${installed()}:${process.env.PATH}` }
    const out = execFileSync('bash', ['-c', script], { env, encoding: 'utf8' })
    expect(out).toMatch(/^Escapement .*\n1\n$/)
  })
})

describe('at a terminal', () => {
  it('bash completes what is typed', () => {
    const script = `
      source <(escapement completion bash)
      COMP_WORDS=(escapement runs list --trigger ma); COMP_CWORD=4
      _escapement
      echo "\${COMPREPLY[*]}"`
    const env = { ...process.env, PATH: `${installed()}:${process.env.PATH}` }
    expect(execFileSync('bash', ['-c', script], { env, encoding: 'utf8' })).toBe('manual\n')
  })

  it('what is completed opens no folder that nobody runs on', () => {
    const bin = installed()
    fs.mkdirSync(path.join(bin, '.escapement', 'data'), { recursive: true })
    const env = { ...process.env, DATABASE_URL: '' }
    execFileSync(path.join(bin, 'escapement'), ['complete', '--', 'schedules', 'get', 'a'], { cwd: bin, env })
    expect(fs.readdirSync(path.join(bin, '.escapement'), { recursive: true })).toEqual(['data'])
  })

  it('a table fits, whatever its width', async () => {
    const { status, screen } = await inTerminal(preview, { columns: 60 })
    expect(status).toBe(0)
    expect(screen.split('\n').every((line) => line.length <= 60)).toBe(true)
    expect(screen).toContain('EUROPE/PAR…')
  })

  it('Ctrl+C and Ctrl+D answer a question with no', async () => {
    const ask = `import { confirm } from './dist/cli/confirm.js'
      for (const _ of [1, 2]) await confirm('Sure?', {}).catch(({ code }) => console.log(code))`
    const line = `node --input-type=module -e "${ask}"`
    const answers = [
      [/Sure\? \[y\/N\]/, '\u0003'],
      [/cancelled[\s\S]*Sure\? \[y\/N\]/, '\u0004'],
    ] as const
    const { status, screen } = await inShell(line, { answers })
    expect(screen.match(/cancelled|Error/g)).toEqual(['cancelled', 'cancelled'])
    expect(status).toBe(0)
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
