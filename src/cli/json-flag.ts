import fs from 'node:fs'
import { EscapementError } from '../errors.js'

/** What a flag says in JSON: the text itself, `@file`, or `-` for what comes in on standard input. */
export function readJsonFlag(given: string, flag: string): unknown {
  const text = textOf(given, flag)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new EscapementError('option_invalid', {
      message: `${flag}: is no JSON: ${(error as Error).message}. Texts stand in double quotes, and the whole in single quotes: ${flag} '{"customer": "acme"}'`,
      cause: error,
    })
  }
}

function textOf(given: string, flag: string): string {
  const file = given === '-' ? process.stdin.fd : given.startsWith('@') ? given.slice(1) : undefined
  if (file === undefined) return given
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    throw new EscapementError('option_invalid', {
      message: `${flag}: cannot read ${given === '-' ? 'standard input' : file}: ${(error as Error).message}`,
      cause: error,
    })
  }
}
