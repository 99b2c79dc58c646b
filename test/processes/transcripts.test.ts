import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { expect, it, onTestFinished } from 'vitest'
import { createProgram } from '../../src/cli/program.js'
import { spawnEscapement } from '../support/escapement-process.js'
import { inShell, installIn } from '../support/terminal.js'
import {
  createSettler,
  readTranscripts,
  type Transcript,
  withoutWidths,
  writeTranscripts,
} from '../support/transcript.js'

const page = fileURLToPath(new URL('../../docs/guide/cli.md', import.meta.url))
const fixtures = fileURLToPath(new URL('fixtures/terminal', import.meta.url))

/** With `UPDATE_TRANSCRIPTS=1` the page is given what is seen, instead of being compared with it. */
const isUpdating = process.env.UPDATE_TRANSCRIPTS === '1'
/** A Monday, so that what is planned and how far away it is never differs. */
const BEGINS_AT = '2027-03-01T12:00:00Z'

/** These run on until they are stopped, and are tried where processes are. */
const RUN_ON = ['up', 'worker', 'scheduler', 'events']

it('the page on the command line shows what is seen at a terminal', async () => {
  const cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-terminal-'))
  onTestFinished(() => fs.rmSync(cwd, { recursive: true, force: true }))
  fs.copyFileSync(path.join(fixtures, 'escapement.config.ts'), path.join(cwd, 'escapement.config.ts'))
  fs.copyFileSync(path.join(fixtures, 'schedules.json'), path.join(cwd, 'schedules.json'))
  const bin = path.join(cwd, 'node_modules', '.bin')
  fs.mkdirSync(bin, { recursive: true })
  const env = {
    PATH: `${installIn(bin)}:${process.env.PATH}`,
    TZ: 'Europe/Berlin',
    NODE_OPTIONS: `--import ${path.join(fixtures, 'clock.mjs')}`,
    CLOCK_AHEAD_MS: String(Date.parse(BEGINS_AT) - Date.now()),
  }
  const server = spawnEscapement(['up', '--port', '0'], { cwd, env })
  onTestFinished(() => void server.child.kill('SIGKILL'))
  await server.line(/^Escapement /)

  const text = fs.readFileSync(page, 'utf8')
  const expected = readTranscripts(text)
  const settle = createSettler()
  const ids: string[] = []
  const seen: Transcript[] = []
  for (const { command } of expected) {
    // A reader copies an id from what stands above; so does this.
    const typed = command.replace(
      /01a1e074-5c([0-9a-f]{2})-[\w-]+/,
      (_, number) => ids[Number.parseInt(number, 16) - 1]!,
    )
    const { screen } = await inShell(typed, { cwd, env, columns: 110, answers: [[/\[y\/N\]/, 'y\r']] })
    seen.push({ command, output: settle(screen, ids) })
  }
  if (isUpdating) fs.writeFileSync(page, writeTranscripts(text, seen))
  else expect(seen.map(comparable)).toEqual(expected.map(comparable))
})

it('the page on the command line shows every command that ends by itself', () => {
  const typed = readTranscripts(fs.readFileSync(page, 'utf8')).map(({ command }) => command)
  const missing = leavesOf(createProgram())
    .filter((name) => !RUN_ON.includes(name))
    .filter((name) => !typed.some((line) => line.includes(`escapement ${name}`)))
  expect(missing).toEqual([])
})

function comparable({ command, output }: Transcript): string {
  return `$ ${command}\n${withoutWidths(output)}`
}

/** `schedules list`, and so on. */
function leavesOf(command: Command, path = ''): string[] {
  const visible = command.createHelp().visibleCommands(command)
  return visible
    .filter((each) => each.name() !== 'help')
    .flatMap((each) => {
      const name = `${path}${each.name()}`
      return each.commands.length > 0 ? leavesOf(each, `${name} `) : [name]
    })
}
