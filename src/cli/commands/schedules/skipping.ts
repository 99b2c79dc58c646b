import type { Command } from 'commander'
import { EscapementError } from '../../../errors.js'
import type { HttpClient } from '../../../http-client/index.js'
import { colours } from '../../colours.js'
import { withConnection } from '../../connection.js'
import { moment } from '../../moment.js'
import { examples, show } from '../../output.js'
import { readTime } from '../../time-flag.js'
import { naming } from './flag-names.js'
import { NAME, type SharedFlags, withSharedFlags } from './shared-flags.js'
import { done, readingZone, type Schedule, zoneOf } from './standing.js'

type Verb = 'skip' | 'unskip'

const TIME = ['<time>', 'the plan time, in the zone of the schedule if it has no offset, or "next"'] as const

export function addSkip(schedules: Command): void {
  const command = schedules
    .command('skip')
    .summary('skip one plan time to come')
    .description(
      'Wishes one plan time to come away: it is recorded as skipped by an operator, and the others run.',
    )
    .argument(...NAME)
    .argument(...TIME)
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples(
        'escapement schedules skip report:acme next',
        'escapement schedules skip report:acme 2026-12-24T09:00',
        'escapement schedules skip report:acme 2026-12-24T14:00:00Z',
      ),
    )
    .action(wishing('skip'))
}

export function addUnskip(schedules: Command): void {
  const command = schedules
    .command('unskip')
    .summary('take the wish to skip one back')
    .description('Lets a plan time run that was to be skipped. "next" is the next of those.')
    .argument(...NAME)
    .argument(...TIME)
  withSharedFlags(command)
    .addHelpText(
      'after',
      examples(
        'escapement schedules unskip report:acme next',
        'escapement schedules unskip report:acme 2026-12-24T09:00',
      ),
    )
    .action(wishing('unskip'))
}

function wishing(verb: Verb) {
  return (name: string, time: string, flags: SharedFlags, command: Command) =>
    withConnection(flags, command, async (client) => {
      const schedule = await client.schedules.get(name)
      const planTime = await planTimeOf(client, schedule, time, verb)
      await naming({ planTime: 'time' }, () => client.schedules[verb](name, planTime))
      // One that is not active has no next until it is.
      const next =
        schedule.state === 'active' ? await nextOf(client, schedule, ({ skipped }) => !skipped) : undefined
      show(flags, { name, planTime, skipped: verb === 'skip', next: next ?? null }, () => {
        const at = (instant: string) => moment(instant, { zone: zoneOf(schedule.timing) })
        const what = verb === 'skip' ? 'skips' : 'no longer skips'
        const then = next === undefined ? '' : `; next ${at(next)}`
        return done(`${colours.bold(name)} ${what} ${at(planTime)}${then}`)
      })
    })
}

async function planTimeOf(client: HttpClient, schedule: Schedule, time: string, verb: Verb): Promise<string> {
  if (time.toLowerCase() !== 'next') {
    return new Date(readTime(time, 'time', readingZone(schedule.timing))).toISOString()
  }
  const found = await nextOf(client, schedule, ({ skipped }) => skipped === (verb === 'unskip'))
  if (found !== undefined) return found
  throw new EscapementError('not_a_plan_time', {
    message: `"${schedule.name}" has no plan time to come that ${verb === 'skip' ? 'could be' : 'is to be'} skipped.`,
  })
}

const LOOKED_AT = 1_000

async function nextOf(
  { schedules }: HttpClient,
  { name }: Schedule,
  isMeant: (occurrence: { skipped: boolean }) => boolean,
): Promise<string | undefined> {
  for (const count of [10, LOOKED_AT]) {
    const { occurrences } = await schedules.preview(name, { count })
    const found = occurrences.find(isMeant)
    if (found !== undefined || occurrences.length < count) return found?.planTime
  }
  return undefined
}
