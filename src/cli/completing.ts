/**
 * What may follow on a command line, for the completion of a shell. Commands, flags and their choices come from the program itself, so
 * that they cannot differ from it; names of schedules, jobs and groups are asked for.
 */
import type { Command, Option } from 'commander'

export type NameKind = 'schedule' | 'job' | 'group'

/** Names that begin with a text; nothing where nobody answers. */
export type AskNames = (kind: NameKind, beginning: string) => Promise<readonly string[]>

/** Flags whose value is a name that is known elsewhere. */
const FLAG_NAMES: Readonly<Record<string, NameKind>> = {
  '--job': 'job',
  '--schedule': 'schedule',
  '--group': 'group',
}

/** The first argument of these is such a name. */
const ARGUMENT_NAMES: Readonly<Record<string, NameKind>> = {
  schedules: 'schedule',
  groups: 'group',
  'runs enqueue': 'job',
}

/** `words` are those after the name of the program; the last is the one that is being typed, and may be empty. */
export async function completionsOf(
  program: Command,
  words: readonly string[],
  ask: AskNames,
): Promise<string[]> {
  const typed = words.at(-1) ?? ''
  const { command, path, given, awaited } = walk(program, words.slice(0, -1))
  const fits = (candidates: readonly string[]) =>
    [...new Set(candidates)].filter((candidate) => candidate.startsWith(typed))
  if (awaited) {
    if (awaited.argChoices) return fits(awaited.argChoices)
    const kind = FLAG_NAMES[awaited.long ?? '']
    return kind ? fits(await ask(kind, typed)) : []
  }
  if (typed.startsWith('-')) return fits(flagsOf(command))
  if (command.commands.length > 0) return fits(namesOf(command))
  const kind = ARGUMENT_NAMES[path.join(' ')] ?? ARGUMENT_NAMES[path[0] ?? '']
  const argument = command.registeredArguments[given]
  if (argument?.argChoices) return fits(argument.argChoices)
  return kind && given === 0 && argument ? fits(await ask(kind, typed)) : []
}

interface Walked {
  command: Command
  /** The names of the commands that lead to it. */
  path: string[]
  /** How many arguments it has been given. */
  given: number
  /** The flag whose value comes next. */
  awaited: Option | undefined
}

function walk(program: Command, words: readonly string[]): Walked {
  const walked: Walked = { command: program, path: [], given: 0, awaited: undefined }
  for (const word of words) {
    if (walked.awaited) {
      walked.awaited = undefined
    } else if (word.startsWith('-')) {
      const flag = walked.command.options.find(({ long, short }) => word === long || word === short)
      if (flag?.required) walked.awaited = flag
    } else {
      const next = walked.command.commands.find((command) => command.name() === word)
      if (next) {
        walked.command = next
        walked.path.push(word)
      } else walked.given++
    }
  }
  return walked
}

function flagsOf(command: Command): string[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long }) => long ?? [])
}

function namesOf(command: Command): string[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name())
}
