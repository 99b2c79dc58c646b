import { CommanderError } from 'commander'
import { EscapementError } from '../errors.js'

/** What a script can tell apart without reading the message. */
export const EXIT_STATUS = {
  done: 0,
  /** It was refused or failed, or what was looked for is wrong: of `audit` and `doctor`. */
  failed: 1,
  /** What was given is wrong: on the command line, in a file, in the configuration. */
  usage: 2,
  /** No server, or no database, answers. */
  unreachable: 3,
  /** There is no token, or it may not do this. */
  notAllowed: 4,
  interrupted: 130,
} as const

export const EXIT_STATUS_HELP = `
Exit status:
    0  done
    1  refused or failed; audit and doctor found something
    2  what was given is wrong: on the command line, or in a file
    3  no server or database answers
    4  not allowed: the token is missing, or may not do this
  130  interrupted, or answered with no`

export function exitStatusOf(error: unknown): number {
  // Asking for help or for the version is an error of commander's too, whose status is 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_STATUS.done : EXIT_STATUS.usage
  if (!(error instanceof EscapementError)) return EXIT_STATUS.failed
  if (error.code.endsWith('_invalid')) return EXIT_STATUS.usage
  switch (error.code) {
    case 'server_unreachable':
    case 'database_unreachable':
      return EXIT_STATUS.unreachable
    case 'unauthorized':
    case 'forbidden':
      return EXIT_STATUS.notAllowed
    case 'cancelled':
      return EXIT_STATUS.interrupted
    default:
      return EXIT_STATUS.failed
  }
}
