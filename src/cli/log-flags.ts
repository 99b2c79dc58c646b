import { type Command, Option } from 'commander'
import { LOG_LEVELS, type LogLevel } from './log-level.js'

export interface LogFlags {
  log: 'pretty' | 'json'
  logLevel: LogLevel
}

/** `--log` and `--log-level`: for commands that run on. */
export function withLogFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--log <form>', 'lines for a person, or one JSON record per line')
        .choices(['pretty', 'json'])
        .default('pretty'),
    )
    .addOption(
      new Option('--log-level <level>', 'the least that is written').choices(LOG_LEVELS).default('info'),
    )
}
