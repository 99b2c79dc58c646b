import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createEscapement, type Escapement } from '../../src/escapement.js'
import { cron, every, set, softDelete } from '../../src/index.js'
import { createHandler } from '../../src/server/handler.js'
import { toNodeHandler } from '../../src/server/node.js'
import { serve } from '../../src/server/serve.js'
import type { Database } from '../../src/store/database.js'

/** A server with something to see, as a browser reaches it. */
export interface Site {
  escapement: Escapement
  url: string
  /** Lets the runs of `export-orders` end. */
  finishExports(): void
  close(): Promise<void>
}

/** On a database of its own, with all loops running. */
export async function openSite(database: string | Database, schema = 'escapement'): Promise<Site> {
  const escapement = await createEscapement({ database, schema })
  escapement.job('send-report', { handler: () => ({ sent: true }) })
  escapement.job('import-feed', {
    retry: { attempts: 1 },
    handler: () => {
      throw new Error('The feed at https://feeds.example.com/prices.xml answered 502')
    },
  })
  let finishExports = () => {}
  const exported = new Promise<void>((resolve) => {
    finishExports = resolve
  })
  escapement.job('export-orders', {
    retry: { attempts: 1 },
    async handler({ attempt, progress }) {
      if (attempt === 1) throw new Error('The warehouse is closed\nOpening hours: 8 to 18')
      progress(0.4, '400 of 1,000 orders')
      await exported
      return { orders: 1_000 }
    },
  })
  await putSchedules(escapement)
  await declarePosts(escapement, schema)
  await escapement.start()
  const broken = new Promise((resolve) => escapement.on('schedule.broken', resolve))
  await escapement.schedules.put('feed:prices', {
    job: 'import-feed',
    timing: every('1 second'),
    group: 'feeds',
    breaker: { failures: 1 },
  })
  await broken
  const server = await serve(escapement, { port: 0 })
  return {
    escapement,
    url: server.url,
    finishExports,
    async close() {
      finishExports()
      await server.close()
      await escapement.close()
    },
  }
}

async function putSchedules({ schedules }: Escapement): Promise<void> {
  const job = 'send-report'
  const zones = ['America/New_York', 'Europe/Paris', 'Asia/Tokyo', 'UTC']
  const reports = Array.from({ length: 56 }, (_, index) => [
    `report:customer-${String(index + 1).padStart(2, '0')}`,
    {
      job,
      group: 'reports',
      timing: cron(`${index % 20} ${index % 2 === 0 ? '* * * *' : '9 * * MON-FRI'}`, {
        zone: zones[index % 4]!,
      }),
    },
  ])
  await schedules.sync(Object.fromEntries(reports))
  await schedules.put('digest:weekly', {
    job,
    description: 'The weekly digest, to everybody who wants it',
    timing: cron('30 7 * * MON', { zone: 'Australia/Lord_Howe' }),
  })
  await schedules.put('cleanup', { job, timing: every('6 hours'), group: 'upkeep' })
  await schedules.pause('cleanup', { reason: 'until the new disks are in', actor: 'ann' })
}

/** Two posts that are to come, and one that is due and that its table refuses. */
async function declarePosts({ database, transitions }: Escapement, schema: string): Promise<void> {
  await database.query(
    `create table ${schema}.posts (
       id int primary key, title text, status text not null default 'draft',
       publish_at timestamptz, expires_at timestamptz, deleted_at timestamptz,
       constraint published_posts_have_titles check (status = 'draft' or title is not null))`,
  )
  await database.query(
    `insert into ${schema}.posts (id, title, publish_at, expires_at) values
       (1, 'Escapements', now() + interval '3 hours', now() + interval '9 days'),
       (2, 'Pendulums', now() + interval '2 days', null),
       (3, null, now() - interval '1 minute', null)`,
  )
  await transitions.declare(`${schema}.posts`, {
    softDelete: 'deleted_at',
    fields: { publish_at: set('status', { from: 'draft', to: 'published' }), expires_at: softDelete() },
  })
  await transitions.sweep()
}

/** The same under a prefix, in an application of node:http. */
export async function mountSite(
  { escapement }: Site,
  prefix: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const handler = createHandler(escapement, { prefix })
  const server = http.createServer(toNodeHandler(handler)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    async close() {
      handler.close()
      server.close().closeAllConnections()
      await once(server, 'close')
    },
  }
}
