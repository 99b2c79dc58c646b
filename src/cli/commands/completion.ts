import { Argument, Command } from 'commander'
import type { HttpClient } from '../../http-client/index.js'
import { type AskNames, completionsOf, type NameKind } from '../completing.js'
import { COMPLETION_SCRIPTS, type Shell } from '../completion-scripts.js'
import { type ConnectionFlags, databaseOf, withConnection, withConnectionFlags } from '../connection.js'
import { findServer } from '../found-server.js'
import { examples } from '../output.js'

/** Whoever presses a key does not wait for a server that is away. */
const PATIENCE_MS = 1_500
const MOST_NAMES = 100

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .summary('print what makes a shell complete commands')
    .description(
      'Prints a script for a shell. From then on the Tab key completes commands, flags and their choices and, where a server or\n' +
        'PostgreSQL answers, names of schedules, jobs and groups.',
    )
    .addArgument(new Argument('<shell>', 'which one').choices(Object.keys(COMPLETION_SCRIPTS)))
    .addHelpText(
      'after',
      examples(
        'source <(escapement completion bash)',
        'escapement completion bash >> ~/.bashrc',
        'escapement completion zsh > ~/.zsh/_escapement  # a folder of your fpath',
        'escapement completion fish > ~/.config/fish/completions/escapement.fish',
      ),
    )
    .action((shell: Shell) => console.log(COMPLETION_SCRIPTS[shell]))

  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const found = await completionsOf(program, words, ask)
      if (found.length > 0) console.log(found.join('\n'))
      // Whatever is still being asked is of no use any more.
      process.exit(0)
    })
}

const ask: AskNames = async (kind, beginning) => {
  const silence = new Promise<readonly string[]>((resolve) => {
    setTimeout(resolve, PATIENCE_MS, []).unref()
  })
  return Promise.race([named(kind, beginning).catch(() => []), silence])
}

/** Asked of whoever would answer a command without flags. */
async function named(kind: NameKind, beginning: string): Promise<readonly string[]> {
  let names: readonly string[] = []
  const command = withConnectionFlags(new Command())
  const flags = command.opts<ConnectionFlags>()
  if (await isAsleep(flags, command)) return names
  await withConnection(flags, command, async (client) => {
    names = await NAMES[kind](client, beginning)
  })
  return names
}

/** A folder that nobody has opened: to open it takes longer than anybody waits, and keeps others from it meanwhile. */
async function isAsleep(flags: ConnectionFlags, command: Command): Promise<boolean> {
  const database = databaseOf(flags, command)
  if (process.env.ESCAPEMENT_URL || typeof database !== 'object' || !('directory' in database)) return false
  return (await findServer(database.directory)) === undefined
}

const NAMES: Readonly<Record<NameKind, (client: HttpClient, beginning: string) => Promise<string[]>>> = {
  async schedule(client, beginning) {
    const words = beginning === '' ? {} : { q: beginning }
    const { schedules } = await client.schedules.list({ limit: MOST_NAMES, ...words })
    return schedules.map(({ name }) => name)
  },
  async group(client) {
    const { schedules } = await client.schedules.list({ limit: 1_000 })
    return schedules.flatMap(({ group }) => group ?? [])
  },
  async job(client) {
    const { jobs } = await client.jobs()
    return jobs.map(({ name }) => name)
  },
}
