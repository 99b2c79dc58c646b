import { DIAGNOSIS_KINDS, type Diagnosis, type DiagnosisKind } from '../client/diagnosis.js'
import { EscapementError } from '../errors.js'

type Mending = Pick<Diagnosis, 'fix' | 'command'> & { kind: DiagnosisKind; subject: string }

const database = { kind: 'connection', subject: 'the database' } as const

const MENDINGS: Partial<Record<EscapementError['code'], Mending>> = {
  schema_outdated: {
    kind: 'schema',
    subject: 'the schema',
    fix: 'apply what it lacks',
    command: 'escapement migrate',
  },
  schema_newer: {
    kind: 'schema',
    subject: 'the schema',
    fix: 'upgrade this program',
    command: 'npm install escapement@latest',
  },
  database_unreachable: {
    ...database,
    fix: 'start the database, or correct --database or DATABASE_URL',
    command: `psql "$DATABASE_URL" -c 'select 1'`,
  },
  database_unusable: { ...database, fix: 'give it what it lacks, or name another', command: null },
  directory_in_use: { ...database, fix: 'ask the process that has it, by its --url', command: null },
  directory_unusable: {
    ...database,
    fix: 'start a server, or name a --url or --database',
    command: 'escapement up',
  },
  server_unreachable: {
    kind: 'connection',
    subject: 'the server',
    fix: 'start it, or name another --url',
    command: 'escapement up',
  },
}

/** What keeps a doctor from even looking, as its finding; undefined where it is something else, as a mistake on the command line. */
export function connectionDiagnosis(error: unknown): Diagnosis | undefined {
  if (!(error instanceof EscapementError)) return undefined
  const mending = MENDINGS[error.code]
  if (mending === undefined) return undefined
  const { kind, ...rest } = mending
  return { kind, severity: DIAGNOSIS_KINDS[kind], ...rest, detail: error.message }
}
