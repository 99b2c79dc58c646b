import { type Command, Option } from 'commander'
import { hostNow } from '../../clock.js'
import type { Result } from '../../http-client/index.js'
import { durationToMs } from '../../time/duration.js'
import { colours, errorColours } from '../colours.js'
import { type ConnectionFlags, withConnection, withConnectionFlags } from '../connection.js'
import { harmless } from '../harmless.js'
import { localTime } from '../local-time.js'
import { examples, type JsonFlag, show, withJsonFlag } from '../output.js'
import { formatTable } from '../table.js'

interface CreateFlags extends ConnectionFlags {
  role: 'viewer' | 'operator' | 'admin'
  group?: string
  expiresIn?: string
  json?: boolean
}

export function addTokens(program: Command): void {
  const tokens = program.command('tokens').description('make, list and revoke tokens for the HTTP API')

  withConnectionFlags(tokens.command('create'))
    .summary('make a token')
    .description(
      'Makes a token and prints it, this once: what is stored cannot give it back. From the first token on a server\n' +
        'answers no request without one, also if all are revoked later.\n\n' +
        'viewer reads; operator also pauses, resumes, skips, triggers, backfills, enqueues, cancels, retries and sweeps;\n' +
        'admin does all.',
    )
    .argument('<name>', 'who or what uses it: the actor of what is done with it')
    .addOption(
      new Option('--role <role>', 'what it may do')
        .choices(['viewer', 'operator', 'admin'])
        .makeOptionMandatory(),
    )
    .option('--group <group>', 'limit it to the schedules of this group and their runs')
    .option('--expires-in <duration>', 'such as "90 days" (default: it lasts until it is revoked)')
    .option('--json', 'print it as JSON')
    .addHelpText(
      'after',
      `
Examples:
  escapement tokens create alice --role admin
  escapement tokens create ci --role operator --expires-in "90 days" --database postgres://app@localhost/app
  escapement tokens create acme-dashboard --role viewer --group acme`,
    )
    .action((name: string, flags: CreateFlags, command: Command) =>
      withConnection(flags, command, async (client, { tokenHint }) => {
        const { role, group, expiresIn } = flags
        const isFirst = (await client.tokens.list({ limit: 1 })).tokens.length === 0
        const made = await client.tokens.create({
          name,
          role,
          ...(group !== undefined && { group }),
          ...(expiresIn !== undefined && { expiresAt: after(expiresIn) }),
        })
        if (isFirst && (role !== 'admin' || group !== undefined)) console.error(noAdminWarning(tokenHint))
        if (flags.json) return console.log(JSON.stringify(made, null, 2))
        console.log(made.token)
        console.error(
          errorColours.dim(
            `${harmless(describeToken(made))}. It is shown this once: keep it in a safe place.`,
          ),
        )
      }),
    )

  withConnectionFlags(tokens.command('list'))
    .summary('list tokens')
    .description('Lists all tokens, newest first, with what they may do and when they were last used.')
    .option('--json', 'print them as JSON')
    .addHelpText('after', '\nExamples:\n  escapement tokens list\n  escapement tokens list --json')
    .action((flags: ConnectionFlags & { json?: boolean }, command: Command) =>
      withConnection(flags, command, async (client) => {
        const all: Token[] = []
        let next: string | null = null
        do {
          const page: Result<'listTokens'> = await client.tokens.list(
            next === null ? {} : { pageToken: next },
          )
          all.push(...page.tokens)
          next = page.nextPageToken
        } while (next !== null)
        if (flags.json) return console.log(JSON.stringify(all, null, 2))
        if (all.length === 0) return console.log('There are no tokens: only this machine is answered.')
        console.log(
          harmless(
            formatTable(['ID', 'NAME', 'ROLE', 'GROUP', 'STATE', 'EXPIRES', 'LAST USED'], all.map(rowOf)),
          ),
        )
      }),
    )

  withJsonFlag(withConnectionFlags(tokens.command('revoke')))
    .summary('revoke a token')
    .description('From now on it opens nothing, nor does a session of the dashboard that was opened with it.')
    .argument('<id>', 'as "escapement tokens list" shows it')
    .addHelpText(
      'after',
      examples(
        'escapement tokens revoke 0199d2c4-3f6b-4c0e-9d53-5f0c6c1b7a11',
        'escapement tokens revoke 0199d2c4-3f6b-4c0e-9d53-5f0c6c1b7a11 --database postgres://app@localhost/app',
      ),
    )
    .action((id: string, flags: ConnectionFlags & JsonFlag, command: Command) =>
      withConnection(flags, command, async (client) => {
        await client.tokens.revoke(id)
        show(flags, { revoked: id }, () => `${colours.green('✔')} Revoked.`)
      }),
    )
}

/** From the first token on being on the server's machine opens nothing, so that nobody is left who could make another. */
function noAdminWarning(tokenHint: string): string {
  return (
    `${errorColours.yellow('warning:')} This is the first token, and not one that may do all: from now on a server answers nobody without a token, ` +
    `and none of them makes tokens or touches what this one may not, until there is an admin's without a group. ${tokenHint}`
  )
}

type Token = Result<'listTokens'>['tokens'][number]

function after(duration: string): string {
  return new Date(hostNow() + durationToMs(duration, '--expires-in')).toISOString()
}

function describeToken({ id, name, role, group, expiresAt }: Token): string {
  const where = group === null ? '' : ` in the group "${group}"`
  const until = expiresAt === null ? 'until it is revoked' : `until ${localTime(expiresAt)}`
  return `${name}, ${role}${where}, ${until} (${id})`
}

function rowOf({ id, name, role, group, state, expiresAt, lastUsedAt }: Token): string[] {
  const shown = state === 'live' ? colours.green(state) : colours.red(state)
  const time = (instant: string | null) => (instant === null ? '–' : localTime(instant))
  return [id, name, role, group ?? '–', shown, time(expiresAt), time(lastUsedAt)]
}
