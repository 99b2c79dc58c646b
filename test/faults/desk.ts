/** Where one user asks: what was asked for and what was told is written down, and what was not heard is looked for. */
import { setTimeout as sleep } from 'node:timers/promises'
import type * as Library from 'escapement'
import { type Content, otherNameOf, type Role } from './cast.js'
import type { Answer, Entry, Journal, ObservedEntry, VerbEntry } from './history.js'

export type Desk = ReturnType<typeof createDesk>

export interface DeskSettings {
  escapement: Library.Escapement
  library: typeof Library
  history: Journal<Entry>
}

type Named = Pick<VerbEntry, 'name'>
type Facts = Pick<VerbEntry, 'verb' | 'name'> & Partial<VerbEntry>

/** What a refusal is: it says that nothing has changed. All other errors leave that open. */
const REFUSALS = new Set([
  'schedule_not_found',
  'schedule_exists',
  'schedule_invalid',
  'timing_invalid',
  'already_decided',
  'not_a_plan_time',
  'run_open',
  'option_invalid',
])

/** Longer than anything that is still under way can take to arrive: a slow network holds it back by less. */
const LOOK_AFTER_MS = 2_000

export function createDesk({ escapement, library, history }: DeskSettings, user: string) {
  const { schedules } = escapement
  let number = 0
  /** What a schedule is called now, by the name of its role, where that is something else. */
  const names = new Map<string, string>()
  const nameOf = (role: string) => names.get(role) ?? role

  async function ask<T>(
    facts: Facts,
    call: () => Promise<T>,
    told: (value: T) => Partial<VerbEntry> = () => ({}),
    /** Further schedules that it is about, with what is told of each. */
    echoes: readonly (Pick<VerbEntry, 'name'> & Partial<VerbEntry>)[] = [],
  ): Promise<Answer> {
    const asked = { type: 'verb' as const, user, number: number++, ...facts, t0: Date.now() }
    const write = (answer: Answer, rest: Partial<VerbEntry>) => {
      const entry = { ...asked, t1: Date.now(), answer, ...rest }
      history.write(entry)
      for (const echo of echoes) history.write({ ...entry, ...echo, isEcho: true })
      return answer
    }
    try {
      return write('ok', told(await call()))
    } catch (error) {
      const { code = '', message } = error as { code?: string; message: string }
      return write(REFUSALS.has(code) ? 'refused' : 'unknown', { code, message: message.slice(0, 200) })
    }
  }

  async function look(name: string): Promise<void> {
    const asked = { type: 'observed' as const, user, number: number++, name, t0: Date.now() }
    for (;;) {
      try {
        const { id, state, stateNote, description } = await schedules.get(nameOf(name))
        const mark = Number(description!.slice('mark '.length))
        return history.write({
          ...asked,
          exists: true,
          id,
          mark,
          isPaused: state === 'paused',
          until: stateNote?.until?.getTime() ?? null,
          t1: Date.now(),
        } satisfies ObservedEntry)
      } catch (error) {
        if ((error as { code?: string }).code === 'schedule_not_found') {
          return history.write({ ...asked, exists: false, t1: Date.now() })
        }
        await sleep(300)
      }
    }
  }

  async function changing(facts: Facts, call: () => Promise<unknown>): Promise<void> {
    await lookAfter(await ask(facts, call), [facts.name])
  }

  async function lookAfter(answer: Answer, names: readonly string[]): Promise<void> {
    if (answer !== 'unknown') return
    await sleep(LOOK_AFTER_MS)
    for (const name of names) await look(name)
  }

  /** Whether there is one of this name, as soon as somebody answers. */
  async function isThere(name: string): Promise<boolean> {
    for (;;) {
      try {
        await schedules.get(name)
        return true
      } catch (error) {
        if ((error as { code?: string }).code === 'schedule_not_found') return false
        await sleep(300)
      }
    }
  }

  /** Again and again under its key, until it is heard: the windows of all of them are one. */
  async function untilHeard(facts: Facts, call: () => Promise<{ id: string }>): Promise<void> {
    while ((await ask(facts, call, ({ id }) => ({ id }))) === 'unknown') await sleep(500)
  }

  return {
    async put(role: Role, content: Content, verb: 'put' | 'patch'): Promise<void> {
      const { name } = role
      const definition = definitionOf(library, role, content)
      const { timing, description } = definition
      await changing({ verb, name, content }, () =>
        verb === 'put'
          ? schedules.put(nameOf(name), definition)
          : schedules.patch(nameOf(name), { timing, description }),
      )
    },
    /** The first of each, by one call. */
    async putAll(roles: readonly Role[], contents: ReadonlyMap<string, Content>): Promise<void> {
      const definitions = roles.map((role) => [
        role.name,
        definitionOf(library, role, contents.get(role.name)!),
      ])
      const facts = roles.map(({ name }) => ({ verb: 'put', name, content: contents.get(name)! }))
      const [first, ...others] = facts as [Facts, ...Facts[]]
      const call = () => schedules.sync(Object.fromEntries(definitions))
      await lookAfter(
        await ask(first, call, undefined, others),
        roles.map(({ name }) => name),
      )
    },
    change: (verb: 'pause' | 'resume' | 'delete', name: string) =>
      changing({ verb, name }, () => schedules[verb](nameOf(name)) as Promise<unknown>),
    pauseUntil: (name: string, until: number) =>
      changing({ verb: 'pause', name, until }, () =>
        schedules.pause(nameOf(name), { until: new Date(until) }),
      ),
    async changeGroup(
      verb: 'pause group' | 'resume group',
      group: string,
      members: readonly string[],
    ): Promise<void> {
      const [first, ...others] = members.map((name) => ({ name })) as [Named, ...Named[]]
      const call = () => (verb === 'pause group' ? schedules.pauseGroup(group) : schedules.resumeGroup(group))
      await lookAfter(await ask({ verb, ...first }, call, undefined, others), members)
    },
    async rename(name: string): Promise<void> {
      const to = otherNameOf(nameOf(name))
      const answer = await ask({ verb: 'rename', name }, () => schedules.rename(nameOf(name), to))
      if (answer === 'unknown') await sleep(LOOK_AFTER_MS)
      if (answer === 'ok' || (answer === 'unknown' && (await isThere(to)))) names.set(name, to)
    },
    wish: async (verb: 'skip' | 'unskip', name: string, planTime: number) =>
      void (await ask({ verb, name, planTime }, () => schedules[verb](nameOf(name), new Date(planTime)))),
    trigger: (name: string) => {
      const key = `${user}-${number}`
      return untilHeard({ verb: 'trigger', name, key }, () => schedules.triggerRun(nameOf(name), { key }))
    },
    backfill: async (name: string, from: number, to: number) =>
      void (await ask(
        { verb: 'backfill', name, from, to },
        () => schedules.backfill(nameOf(name), { from: new Date(from), to: new Date(to) }),
        ({ runIds }) => ({ runIds }),
      )),
    enqueue: (job: string, key: string, queue = 'default') =>
      untilHeard({ verb: 'enqueue', name: job, key }, () =>
        escapement.runs.enqueue(job, null, { key, queue }),
      ),
    /** Once only: without keys nobody can ask again, and so what is not heard may have happened or not. */
    enqueueMany: async (job: string, inputs: string[]) =>
      void (await ask(
        { verb: 'enqueue many', name: job, inputs },
        () =>
          escapement.runs.enqueueMany(
            job,
            inputs.map((input) => ({ input })),
          ),
        (runs) => ({ runIds: runs.map(({ id }) => id) }),
      )),
    insertPost: (id: string, { publishAt, archiveAt }: { publishAt: number; archiveAt: number | null }) =>
      ask({ verb: 'insert', name: id }, () =>
        escapement.database.query(
          'insert into public.posts (id, publish_at, archive_at) values ($1, $2, $3) on conflict do nothing',
          [id, new Date(publishAt), archiveAt === null ? null : new Date(archiveAt)],
        ),
      ),
  }
}

function definitionOf(library: typeof Library, role: Role, content: Content) {
  const { timing, ...bounds } = timingOf(library, content)
  const { job, policies, scopes, group } = role
  return {
    job,
    timing,
    description: `mark ${content.mark}`,
    ...policies,
    ...bounds,
    ...(group !== undefined && { group }),
    ...(scopes.length > 1 && { scopes }),
  }
}

function timingOf(
  { every, cron, once, after, rrule }: typeof Library,
  { grid, startAt, endAt, limit }: Content,
) {
  const timing =
    grid.kind === 'every'
      ? every({ seconds: grid.seconds })
      : grid.kind === 'cron'
        ? cron(`*/${grid.seconds} * * * * *`, { zone: grid.zone })
        : grid.kind === 'once'
          ? once(new Date(grid.at))
          : grid.kind === 'rrule'
            ? rrule(`DTSTART:20260101T000000Z\nRRULE:FREQ=SECONDLY;INTERVAL=${grid.seconds}`)
            : after({ seconds: grid.seconds })
  return {
    timing,
    ...(startAt !== undefined && { startAt: new Date(startAt) }),
    ...(endAt !== undefined && { endAt: new Date(endAt) }),
    ...(limit !== undefined && { limit }),
  }
}
