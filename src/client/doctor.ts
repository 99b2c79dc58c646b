import type { ConnectionMode, Database } from '../store/database.js'
import { readSchemaLevels } from '../store/migrate.js'
import { findMove, type MoveRow } from '../store/queries/moving.js'
import { isPastDeadline, isRefusedByServer } from '../store/refusal.js'
import { readWithin, type Session, type Store } from '../store/store.js'
import type { SweptTable } from '../transitions/table.js'
import { VERSION } from '../version.js'
import { DIAGNOSIS_KINDS, type Diagnosis, type DiagnosisKind, timeOf, told } from './diagnosis.js'
import { examineClaiming, examineFailures, examineLeases, examineWaiting } from './examining/runs.js'
import {
  examineBroken,
  examineOverdue,
  examineUnplannable,
  readZoneData,
  zoneDataDiagnoses,
} from './examining/schedules.js'
import {
  clockDiagnoses,
  measureNotification,
  notificationDiagnoses,
  poolerDiagnoses,
  readServer,
  writableDiagnoses,
} from './examining/session.js'
import { examineBloat, examineIndexes, examineQuarantine } from './examining/tables.js'

/** What was found, and what it was found with. */
export interface Examination {
  /** Problems first; an empty list is health. */
  findings: Diagnosis[]
  /** Of this program. */
  version: string
  /** Behind a transaction pooler its mode is `pooled`. */
  database: { kind: Database['kind']; mode: ConnectionMode; version: string }
  /** The newest migration that the schema has, and that this program knows. */
  schema: { name: string; level: number; known: number }
  /** The version of the time zone data of this process. */
  zoneData: string
  /** That of the newest that an active schedule was computed with; null where none has a zone. */
  schedulesZoneData: string | null
  /** By how much the database's clock is ahead of this host's. */
  clockSkewMs: number
  /** How long a notification took from here to here; null where none came, or none can. */
  notificationMs: number | null
}

export interface DoctorParts {
  store: Store
  zoneData: string
  /** What this process has declared. */
  tables(): readonly SweptTable[]
}

/** For one statement: where an index is missing it might take for ever. */
const PATIENCE_MS = 3_000

/** Looks at everything and changes nothing. What cannot be looked at is a finding too. */
export async function examine(parts: DoctorParts): Promise<Examination> {
  const { store, zoneData } = parts
  const server = await readServer(store)
  const { applied, known } = await readSchemaLevels(store.database, store.schema)
  const { mode, canListen, kind } = store.database
  // Where nobody can listen, the loops know and look more often. A standby can neither.
  const isExpected = canListen && !server.isStandby
  const notificationMs = isExpected ? await measureNotification(store) : null
  const looks = applied === known ? await lookAround(parts) : { findings: [], newest: null }
  const findings = [
    ...(applied === known ? [] : schemaDiagnoses(store.schema, applied, known)),
    ...writableDiagnoses(server),
    ...clockDiagnoses(server),
    ...(isExpected ? notificationDiagnoses(notificationMs) : []),
    ...poolerDiagnoses(mode),
    ...looks.findings,
  ]
  return {
    findings: findings.sort((a, b) => rank(a.kind) - rank(b.kind)),
    version: VERSION,
    database: { kind, mode, version: server.version },
    schema: { name: store.schema, level: applied, known },
    zoneData: zoneData || 'unknown',
    schedulesZoneData: looks.newest,
    clockSkewMs: server.skewMs,
    notificationMs: notificationMs === null ? null : Math.round(notificationMs),
  }
}

type Look = (session: Session) => Promise<Diagnosis[]>

/** All looks in one transaction that may only read; where one of them fails, each in its own, so that the others still tell. */
async function lookAround({ store, zoneData, tables }: DoctorParts) {
  let newest: string | null = null
  /** What the schedulers and workers of this database see to. */
  const ofWork: Record<string, Look> = {
    'unplannable schedules': examineUnplannable,
    'overdue schedules': examineOverdue,
    'broken schedules': examineBroken,
    leases: examineLeases,
    'waiting runs': examineWaiting,
    claiming: examineClaiming,
  }
  const move = await findMoveWithin(store)
  const looks: Record<string, Look> = {
    // Where everything was moved away nobody is to do any of it.
    ...(move ? {} : ofWork),
    async 'zone data'(session) {
      const found = await readZoneData(session, zoneData)
      newest = found.newest
      return zoneDataDiagnoses(found, zoneData)
    },
    indexes: (session) => examineIndexes(session, store, tables()),
    'dead rows': (session) => examineBloat(session, store),
    'failed runs': examineFailures,
  }
  const findings = await unlessRefused(
    () => readWithin(store, PATIENCE_MS, (session) => inTurn(Object.values(looks), (look) => look(session))),
    () =>
      inTurn(Object.entries(looks), ([what, look]) =>
        unlessRefused(
          () => readWithin(store, PATIENCE_MS, look),
          (error) => unexamined(what, error),
        ),
      ),
  )
  // In transactions of its own: one that fails is tried again in another way.
  const aside = await unlessRefused(
    () => examineQuarantine(store, tables(), PATIENCE_MS),
    (error) => unexamined('rows that were set aside', error),
  )
  return { findings: [...movedDiagnoses(move), ...findings, ...aside], newest }
}

async function findMoveWithin(store: Store): Promise<MoveRow | undefined> {
  try {
    return await readWithin(store, PATIENCE_MS, findMove)
  } catch (error) {
    if (!isOfOneLook(error)) throw error
    return undefined
  }
}

async function inTurn<T>(
  all: readonly T[],
  examineOne: (each: T) => Promise<Diagnosis[]>,
): Promise<Diagnosis[]> {
  const found: Diagnosis[] = []
  for (const each of all) found.push(...(await examineOne(each)))
  return found
}

async function unlessRefused(
  read: () => Promise<Diagnosis[]>,
  otherwise: (error: unknown) => Diagnosis[] | Promise<Diagnosis[]>,
): Promise<Diagnosis[]> {
  try {
    return await read()
  } catch (error) {
    if (!isOfOneLook(error)) throw error
    return otherwise(error)
  }
}

/** A server that does not answer at all is no finding of ours: there is nobody to ask. Then the next look finds no connection. */
function isOfOneLook(error: unknown): boolean {
  return isRefusedByServer(error) || isPastDeadline(error)
}

const ORDER = Object.keys(DIAGNOSIS_KINDS)
const rank = (kind: DiagnosisKind) => ORDER.indexOf(kind)

/** Of another schema than this program works with nothing else can be said. */
function schemaDiagnoses(name: string, applied: number, known: number): Diagnosis[] {
  return told('schema', [name], () =>
    applied < known
      ? {
          subject: name,
          detail: `lacks ${known - applied} of the ${known} migrations that this program works with`,
          fix: 'apply them',
          command: 'escapement migrate',
        }
      : {
          subject: name,
          detail: `was migrated to ${applied} by a newer program; this one knows ${known}`,
          fix: 'upgrade this program',
          command: 'npm install escapement@latest',
        },
  )
}

/** No command: pasted where the export does run elsewhere, one that takes the move back would let both fire. */
function movedDiagnoses(move: MoveRow | undefined): Diagnosis[] {
  return told('moved', move ? [move] : [], ({ id, taken_at, taken_by }) => ({
    subject: id,
    detail: `everything here was moved away at ${timeOf(taken_at)}${taken_by === null ? '' : ` by ${taken_by}`}: nothing fires here any more`,
    fix:
      'work with the database that the export was imported into; if it was imported nowhere, import it (escapement import), or take the move ' +
      'back (escapement export --undo)',
    command: null,
  }))
}

/** The server gave a statement up. */
const CANCELLED = '57014'

function unexamined(what: string, error: unknown): Diagnosis[] {
  const { code, message } = error as { code?: unknown; message: string }
  return told('unexamined', [what], () => ({
    subject: what,
    detail: `could not be looked at: ${message}`,
    fix:
      code === CANCELLED || isPastDeadline(error)
        ? 'mend what else was found, such as a missing index or dead rows, then look again'
        : 'see that our tables are as the migrations made them, and that this database user may read them',
    command: null,
  }))
}
