/**
 * What pages take for granted: a program that has been set up, jobs and functions of the reader's own, and objects of other
 * packages, whose types their integration tests check. A page that declares or imports such a name uses its own.
 */
import type * as library from 'escapement'
import type * as server from 'escapement/server'
import type { Client } from 'pg'

declare global {
  const escapement: library.Escapement
  const {
    after,
    createEscapement,
    cron,
    every,
    httpJob,
    NonRetryableError,
    once,
    RetryAfterError,
    rrule,
    set,
  }: typeof library
  const { createHandler, toNodeHandler }: typeof server
  const handler: server.ApiHandler
  const { fromKysely }: typeof import('escapement/kysely')
  const { z }: typeof import('zod')
  const { readFileSync }: typeof import('node:fs')

  const announce: library.Job<unknown>
  const sendInvoice: library.Job<{ order: number }>
  const sendReminder: library.Job<{ order: number }>
  const sendReport: library.Job<{ customer: string }>
  const sync: library.Job<unknown>
  const client: Client
  const customers: string[]
  const url: string
  /** Of a run. */
  const id: string

  function alert(...what: unknown[]): void
  function show(...what: unknown[]): void
  function readEverythingAgain(): void
  function copyMail(mailbox: string): Promise<{ copied: number; errors: number }>
  function hasLicence(input: unknown): Promise<boolean>
  function isKnown(id: unknown): Promise<boolean>
  function makeReportFor(customer: string, until?: Date | null, signal?: AbortSignal): Promise<string>
  function makeReport(range: { from: string; to: string }): Promise<void>
  function syncMail(context: library.HandlerContext): Promise<void>
  function userOf(request: Request): Promise<{ mail: string; isOperator: boolean } | null>
  const pager: { send(to: string, text: string, options: { dedupKey: string }): Promise<void> }
  const myCounter: { inc(labels: Record<string, string>): void }

  interface Post {
    id: number
    status: 'draft' | 'published' | 'archived'
    publishAt: Date | null
  }

  // biome-ignore-start lint/suspicious/noExplicitAny: these are of packages that are not installed here
  /** Of Express, Fastify or Hono. */
  const app: Record<'register' | 'use', (...handlers: any[]) => void> & {
    all(path: string, handler: (context: { req: { raw: Request } }) => unknown): void
    post(path: string, parser: unknown, handler: (request: any, response: any) => unknown): void
  }
  const express: any, requireOperator: any
  /** Of Drizzle, Kysely and Prisma. */
  const posts: any, prisma: any
  const db: { transaction(): { execute(work: (trx: any) => Promise<void>): Promise<void> } }
  // biome-ignore-end lint/suspicious/noExplicitAny: these are of packages that are not installed here

  /** Fields that a page shows without the object around them. */
  type Fragment = Partial<library.EscapementConfig> | library.TransitionDeclaration['fields']
}
