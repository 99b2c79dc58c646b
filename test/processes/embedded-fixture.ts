/**
 * A process with an embedded database that says in lines of JSON what happens to it.
 * Arguments: what to do, and the directory.
 */
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { lockDirectory } from '../../src/store/directory-lock.js'
import { openPGlite } from '../../src/store/pglite.js'
import { emptyDatabase } from '../support/empty-database.js'

const [task, directory] = process.argv.slice(2) as [string, string]

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

async function main(): Promise<void> {
  // As root every folder can be written: become somebody else first.
  if (task === 'unprivileged' && process.getuid?.() === 0) process.setuid?.(65534)
  if (task === 'take-and-die') {
    await lockDirectory(directory)
    say({ taken: process.pid })
    // Only one at a time may be here.
    writeFileSync(`${directory}.owner`, '', { flag: 'wx' })
    rmSync(`${directory}.owner`)
    process.kill(process.pid, 'SIGKILL')
  }
  const template = task === 'create' ? { template: await emptyDatabase() } : {}
  const database = await openPGlite({ directory, ...template })
  say({ opened: process.pid })

  const syncs = async (work: () => Promise<unknown>) => {
    const before = statSync(process.env.SYNC_LOG!).size
    await work()
    return statSync(process.env.SYNC_LOG!).size - before
  }

  switch (task) {
    case 'hold':
      setInterval(() => {}, 60_000)
      break
    case 'create':
    case 'forget':
      // Neither closes nor holds on to anything.
      await database.query('create table forgotten as select 1 as id')
      break
    case 'count-forgotten':
      say({ rows: await database.query('select id from forgotten') })
      await database.close()
      break
    case 'write': {
      await database.query('create table if not exists written (id int primary key, filler text)')
      const [last] = await database.query<{ id: number }>('select coalesce(max(id), 0) as id from written')
      for (let id = last!.id + 1; ; id += 1) {
        await database.query(`insert into written values ($1, repeat('x', 500))`, [id])
        say({ acknowledged: id })
      }
    }
    case 'check': {
      const text = 'select count(*) as count, coalesce(max(id), 0) as last from written'
      say((await database.query<{ count: number; last: number }>(text))[0]!)
      await database.close()
      break
    }
    case 'count-syncs': {
      await database.query('create table counted (id int)')
      const single: number[] = []
      for (let id = 0; id < 50; id += 1) {
        single.push(await syncs(() => database.query('insert into counted values ($1)', [id])))
      }
      const together = await syncs(() =>
        database.transaction(async (tx) => {
          for (let id = 0; id < 10; id += 1) await tx.query('insert into counted values ($1)', [id])
        }),
      )
      const reading = await syncs(() => database.query('select count(*) from counted'))
      say({ single, together, reading })
      await database.close()
      break
    }
    case 'break-disk': {
      await database.query('create table counted (id int)')
      await database.query('insert into counted values (1)')
      writeFileSync(`${process.env.SYNC_LOG}.${process.env.BREAK}`, '')
      const refusals: unknown[] = []
      for (const text of ['insert into counted values (2)', 'insert into counted values (3)']) {
        await database.query(text).catch((error) => refusals.push(error.code))
      }
      say({ refusals })
      await database.close()
      rmSync(`${process.env.SYNC_LOG}.${process.env.BREAK}`)
      const again = await openPGlite({ directory })
      say({ rows: await again.query('select id from counted order by id') })
      await again.close()
      break
    }
  }
}

main().catch((error: { code?: string; message: string }) => {
  say({ refused: error.code ?? 'none', message: error.message })
  process.exitCode = 1
})
