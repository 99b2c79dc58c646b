/** What is asked of a session itself, where there is one for all: the embedded database, and the simulated one. */

export function listenSql(channel: string): string {
  return `listen "${channel.replaceAll('"', '""')}"`
}

export function unlistenSql(channel: string): string {
  return `un${listenSql(channel)}`
}

export function holdLockSql(key: string): string {
  return `select pg_advisory_lock(${BigInt(key)})`
}

export function letGoOfLockSql(key: string): string {
  return `select pg_advisory_unlock(${BigInt(key)})`
}
