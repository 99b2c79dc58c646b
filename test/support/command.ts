import { stripVTControlCharacters } from 'node:util'
import { vi } from 'vitest'
import { exitStatusOf } from '../../src/cli/exit-status.js'
import { createProgram } from '../../src/cli/program.js'

export interface CommandResult {
  status: number
  /** Standard output, without colours. */
  out: string
  /** Standard error, or the message of what was thrown. */
  err: string
}

/** One command in this process: what it writes, and the status that it would end with. */
export async function runCommand(args: readonly string[]): Promise<CommandResult> {
  const written = { out: '', err: '' }
  const to = (stream: 'out' | 'err') => (text: string) => {
    written[stream] += text
  }
  const line = (stream: 'out' | 'err') => (text: string) => to(stream)(`${text}\n`)
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(line('out')),
    vi.spyOn(console, 'error').mockImplementation(line('err')),
  ]
  const program = createProgram()
  for (const command of [
    program,
    ...program.commands,
    ...program.commands.flatMap((each) => each.commands),
  ]) {
    command.configureOutput({ writeOut: to('out'), writeErr: to('err') })
  }
  const statusBefore = process.exitCode
  process.exitCode = undefined
  try {
    await program.parseAsync(args, { from: 'user' })
    return result(Number(process.exitCode ?? 0))
  } catch (error) {
    written.err += (error as Error).message
    return result(exitStatusOf(error))
  } finally {
    process.exitCode = statusBefore
    for (const spy of spies) spy.mockRestore()
  }

  function result(status: number): CommandResult {
    const { out, err } = written
    return {
      status,
      out: stripVTControlCharacters(out).trimEnd(),
      err: stripVTControlCharacters(err).trimEnd(),
    }
  }
}
