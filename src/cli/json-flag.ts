import fs from 'node:fs'
import { text as readAll } from 'node:stream/consumers'
import { EscapementError } from '../errors.js'

/** For the help of a flag that is read so. */
export const JSON_FORMS = 'JSON, @file, or - for standard input'

/** What a flag says in JSON: the text itself, `@file`, or `-` for what comes in on standard input. */
export async function readJsonFlag(given: string, flag: string): Promise<unknown> {
  if (given === '-') return readJsonFile(given, flag)
  if (given.startsWith('@')) return readJsonFile(given.slice(1), flag)
  const hint = `Texts stand in double quotes, and the whole in single quotes: ${flag} '{"customer": "acme"}'`
  return parseJson(given, (reason) => `${flag}: is no JSON: ${reason}. ${hint}`)
}

/** The JSON in a file, or on standard input where it is `-`. */
export async function readJsonFile(file: string, flag: string): Promise<unknown> {
  const what = file === '-' ? 'standard input' : file
  return parseJson(await textOf(file, flag), (reason) => `${flag}: ${what} is no JSON: ${reason}`)
}

async function textOf(file: string, flag: string): Promise<string> {
  try {
    // As it comes: read at once, a pipe that is still empty would be an error.
    return file === '-' ? await readAll(process.stdin) : fs.readFileSync(file, 'utf8')
  } catch (error) {
    throw new EscapementError('option_invalid', {
      message: `${flag}: cannot read ${file === '-' ? 'standard input' : file}: ${(error as Error).message}`,
      cause: error,
    })
  }
}

function parseJson(text: string, messageOf: (reason: string) => string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new EscapementError('option_invalid', {
      message: messageOf((error as Error).message),
      cause: error,
    })
  }
}
