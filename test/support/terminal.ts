import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface TerminalOptions {
  cwd?: string
  env?: Record<string, string>
  columns?: number
  /** Typed as soon as the screen shows what it answers to. */
  answers?: readonly (readonly [pattern: RegExp, typed: string])[]
}

export interface TerminalResult {
  status: number
  /** What stands on the screen in the end, without colours; what did not fit on one line is one all the same. */
  screen: string
  /** All that was written, with the codes of the terminal. */
  raw: string
}

const ROWS = 1_000

/** The compiled program at a pseudo-terminal, as somebody who sits there sees it. */
export function inTerminal(args: readonly string[], options: TerminalOptions = {}): Promise<TerminalResult> {
  return atTerminal(process.execPath, [MAIN, ...args], options)
}

/** A script of a test at a pseudo-terminal. */
export function scriptInTerminal(file: string, options: TerminalOptions = {}): Promise<TerminalResult> {
  return atTerminal(process.execPath, [file], options)
}

/** Whatever bash makes of a line, at a pseudo-terminal. */
export function inShell(line: string, options: TerminalOptions = {}): Promise<TerminalResult> {
  return atTerminal('bash', ['-c', line], options)
}

/** A folder to put into PATH, in which `escapement` is what was built. */
export function installIn(folder: string): string {
  const text = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`
  fs.writeFileSync(path.join(folder, 'escapement'), text, { mode: 0o755 })
  return folder
}

async function atTerminal(
  file: string,
  args: readonly string[],
  { cwd, env, columns = 100, answers = [] }: TerminalOptions,
): Promise<TerminalResult> {
  const { DATABASE_URL: _, NO_COLOR: __, FORCE_COLOR: ___, ...inherited } = process.env
  const child = spawn(file, [...args], {
    name: 'xterm-256color',
    cols: columns,
    rows: ROWS,
    cwd: path.resolve(cwd ?? '.'),
    env: { ...inherited, ...env } as Record<string, string>,
  })
  const screen = new xterm.Terminal({ cols: columns, rows: ROWS, allowProposedApi: true })
  let raw = ''
  const waiting = [...answers]
  child.onData((data) => {
    raw += data
    screen.write(data)
    if (waiting[0]?.[0].test(raw)) child.write(waiting.shift()![1])
  })
  const { exitCode } = await new Promise<{ exitCode: number }>((resolve) => child.onExit(resolve))
  await new Promise<void>((resolve) => screen.write('', resolve))
  const { active } = screen.buffer
  let seen = ''
  for (let row = 0; row < active.length; row++) {
    const line = active.getLine(row)!
    seen += `${line.isWrapped || row === 0 ? '' : '\n'}${line.translateToString(true)}`
  }
  screen.dispose()
  return { status: exitCode, screen: seen.trimEnd(), raw }
}
