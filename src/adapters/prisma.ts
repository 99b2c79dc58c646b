import { EscapementError } from '../errors.js'
import type { TransactionLike } from '../store/caller-transaction.js'
import { didYouMean } from '../time/did-you-mean.js'
import { type DeclaredTable, inColumnNames, type RowDeclaration } from '../transitions/row-declaration.js'

/** What we need of the client that Prisma's `$transaction` hands over. */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>
}

/** What Prisma knows of the schema: a client, or `Prisma.dmmf.datamodel`. */
export type PrismaModels = object

/** An interactive transaction of Prisma, for `runs.enqueue(job, input, { tx: fromPrisma(tx) })`. */
export function fromPrisma(tx: PrismaTransaction): TransactionLike
/**
 * A declaration in the names of a Prisma model, which `@@map` and `@map` lead to its table and columns:
 * `transitions.declare(fromPrisma<Post>(prisma, 'Post', { fields }))`. `Post` is the type that Prisma generates for its rows.
 */
export function fromPrisma<Row extends object>(
  models: PrismaModels,
  model: string,
  declaration: RowDeclaration<Row>,
): DeclaredTable
export function fromPrisma<Row extends object>(
  given: PrismaTransaction | PrismaModels,
  model?: string,
  declaration?: RowDeclaration<Row>,
): TransactionLike | DeclaredTable {
  if (model !== undefined) return declarationOf(given, model, declaration!)
  const tx = given as PrismaTransaction
  return {
    query: (text, params) => tx.$queryRawUnsafe(text, ...params) as ReturnType<TransactionLike['query']>,
  }
}

interface Model {
  name?: string
  dbName?: string | null
  schema?: string | null
  fields: readonly { name: string; dbName?: string | null }[]
}

function declarationOf<Row>(given: object, model: string, declaration: RowDeclaration<Row>): DeclaredTable {
  const models = modelsOf(given)
  const found = models.get(model)
  if (!found) {
    throw new EscapementError('transition_invalid', {
      message: `Prisma has no model "${model}"${didYouMean(model, [...models.keys()])}.`,
      details: { model },
    })
  }
  const { dbName, schema, fields } = found
  return inColumnNames({ table: dbName ?? model, ...(schema && { schema }) }, declaration, (property) => {
    const field = fields.find(({ name }) => name === property)
    return field && (field.dbName ?? field.name)
  })
}

function modelsOf(given: object): Map<string, Model> {
  const { _runtimeDataModel, models } = given as {
    _runtimeDataModel?: { models: Record<string, Model> }
    models?: readonly Model[]
  }
  if (_runtimeDataModel) return new Map(Object.entries(_runtimeDataModel.models))
  if (Array.isArray(models)) return new Map(models.map((model) => [model.name, model]))
  throw new EscapementError('transition_invalid', {
    message: 'fromPrisma takes a Prisma client, or Prisma.dmmf.datamodel, and the name of a model.',
  })
}
