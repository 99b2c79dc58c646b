/**
 * The witness of one process: a file, synced line by line, and a connection to the database of its own, past everything that is
 * broken, by which it knows the time and whose lease a run has.
 */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import pg from 'pg'

export function openWitness({ file: name, direct }) {
  const file = fs.openSync(name, 'a')
  const nodeId = randomUUID()
  let isClosed = false

  function write(line) {
    if (isClosed) return
    fs.writeSync(file, `${JSON.stringify(line)}\n`)
    fs.fdatasyncSync(file)
  }

  let connection
  /** An answer of the database past everything that is broken, or undefined where it has none. */
  async function ask(text, params) {
    let client
    try {
      connection ??= connect()
      client = await connection
      return (await client.query(text, params)).rows[0]
    } catch {
      connection = undefined
      // One that only took too long is still there.
      client?.end().catch(() => {})
      return undefined
    }
  }

  async function connect() {
    const client = new pg.Client({
      connectionString: direct,
      connectionTimeoutMillis: 1_000,
      query_timeout: 1_000,
    })
    client.on('error', () => {
      connection = undefined
    })
    await client.connect()
    return client
  }

  /** The database's time, and the lease under which the run is being worked on, if it is; nothing where it does not answer. */
  async function lookAt(run) {
    const row = await ask(
      `select extract(epoch from clock_timestamp()) * 1000 as now, r.attempt, r.lease_token
       from (values (1)) as one left join (
         select attempt, lease_token from escapement.runs_open where id = $1 and state = 'running'
         union all
         select 1, lease_token from escapement.lots
         where lease_token is not null and last_id >= $1 and id <= $1 and $1::uuid = any (runs)
       ) as r on true`,
      [run],
    )
    return row && { now: Number(row.now), attempt: row.attempt, lease: row.lease_token }
  }

  /** The machine's clock, which is the database's too, whatever the preloaded one says. One that counts from the start of the process would lag behind on a machine that was stopped meanwhile. */
  const hostTime = () => Date.prototype.constructor.now()

  async function witnessed({ job, run, schedule, scope, planTime, attempt, workerId, signal }, work) {
    const nonce = randomUUID()
    const facts = {
      run: run.id,
      job,
      schedule,
      scheduleId: run.scheduleId,
      scope,
      planTime: planTime?.getTime() ?? null,
      attempt,
      nonce,
      worker: workerId,
      node: nodeId,
      pid: process.pid,
    }
    const begun = await lookAt(run.id)
    const lease = begun?.attempt === attempt ? begun.lease : null
    const tell = (what, rest) =>
      write({ what, ...facts, mono: performance.now(), host: hostTime(), lease, ...rest })
    // What the database says at an end is a line of its own: waiting for it would give others the time to notice a lost lease.
    const lookAgain = async () => {
      const look = await lookAt(run.id)
      if (look) write({ what: 'looked', nonce, run: run.id, database: look.now, holds: look.lease })
    }
    tell('start', { database: begun?.now ?? null })
    try {
      await work?.()
    } catch (error) {
      tell('failed', { aborted: signal.aborted, message: String(error.message).slice(0, 100) })
      void lookAgain()
      throw error
    }
    tell('end', { aborted: signal.aborted })
    void lookAgain()
    return { nonce, attempt }
  }

  return {
    witnessed,
    ready: (facts) => write({ what: 'ready', node: nodeId, pid: process.pid, ...facts }),
    close() {
      isClosed = true
      fs.closeSync(file)
    },
  }
}
