import type { Command } from 'commander'
import { harmless } from './harmless.js'

export interface JsonFlag {
  json?: boolean
}

export function withJsonFlag(command: Command): Command {
  return command.option('--json', 'print the result as JSON')
}

/** The value as it came for a program, or what `text` makes of it for a person. */
export function show(flags: JsonFlag, value: unknown, text: () => string): void {
  console.log(flags.json ? JSON.stringify(value, null, 2) : harmless(text()))
}

/** For `addHelpText('after', …)`. */
export function examples(...lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n')
}
