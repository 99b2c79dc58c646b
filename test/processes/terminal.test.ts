import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEscapement } from '../../src/index.js'
import { serve } from '../../src/server/serve.js'
import { spawnEscapement } from '../support/escapement-process.js'
import { inShell, installIn, inTerminal, scriptInTerminal } from '../support/terminal.js'

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
  it('every command refuses in one line a flag that it has not, or says first which one it lacks', async () => {
    const file = fileURLToPath(new URL('fixtures/terminal/every-command.mjs', import.meta.url))
    const { screen } = await scriptInTerminal(file)
    const answers = screen.split(/^\$ /m).slice(1)
    expect(answers.length).toBeGreaterThan(45)
    for (const answer of answers) {
      expect(answer).toMatch(/^[a-z ]+\nerror: (?:unknown option '--no-such-flag'|required option ).*\n2\s*$/)
    }
  })

  it.each([
    ['up', 'Escapement 0.0.0 on embedded database in memory, http://127.0.0.1:'],
    ['worker', 'Escapement 0.0.0 works on embedded database in memory'],
    ['scheduler', 'Escapement 0.0.0 schedules and sweeps on embedded database in memory'],
  ])('%s runs until Ctrl+C, and then says that it stops', async (command, started) => {
    const port = command === 'up' ? ['--port', '0'] : []
    const args = [command, '--database', 'memory:', '--config', demo, ...port]
    const { status, screen } = await inTerminal(args, { answers: [[/in memory/, '\u0003']] })
    expect(screen.split('\n')[0]).toContain(started)
    expect(screen).toMatch(/Stopping/)
    expect(status).toBe(0)
  })

  it('events are printed until Ctrl+C', async () => {
    const escapement = await createEscapement({ database: 'memory:' })
    const server = await serve(escapement, { port: 0 })
    onTestFinished(async () => {
      await server.close()
      await escapement.close()
    })
    escapement.job('greet', { handler: () => {} })
    const asked: Promise<unknown>[] = []
    const asking = setInterval(() => void asked.push(escapement.runs.enqueue('greet', null)), 100)
    const args = ['events', '--names', 'run.created', '--url', server.url]
    const { status, screen } = await inTerminal(args, { answers: [[/run\.created/, '\u0003']] })
    clearInterval(asking)
    await Promise.all(asked)
    expect(screen).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}run\.created +runId=/)
    expect(status).toBe(0)
  })

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
