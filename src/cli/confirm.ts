import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { EscapementError } from '../errors.js'
import { harmless } from './harmless.js'

export interface YesFlag {
  yes?: boolean
}

export function withYesFlag(command: Command): Command {
  return command.option('-y, --yes', 'do not ask')
}

/** Asks whoever sits at the terminal. Where nobody does, only `--yes` is a yes. Rejects unless it is one. */
export async function confirm(question: string, { yes }: YesFlag): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new EscapementError('option_invalid', {
      message: `${question} There is no terminal to ask at: add --yes if that is what you want.`,
    })
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    // Ctrl+C and Ctrl+D reject it: they are a no as well.
    const answer = await terminal.question(`${harmless(question)} [y/N] `).catch(() => {
      console.error()
      return ''
    })
    if (/^y(es)?$/i.test(answer.trim())) return
  } finally {
    terminal.close()
  }
  throw new EscapementError('cancelled', { message: 'Nothing was changed.' })
}
