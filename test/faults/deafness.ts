/** The type of a message of PostgreSQL that brings a notification: `A`. */
const NOTIFICATION = 0x41
/** The type, and the length of what follows the type. */
const HEAD = 5

/**
 * Follows what a server says on one connection, message by message, and leaves notifications out while it is deaf. What is not a
 * whole message yet is kept until it is.
 */
export function createDeafness(): (bytes: Buffer, isDeaf: boolean) => Buffer {
  let kept = Buffer.alloc(0)
  return (bytes, isDeaf) => {
    const all = Buffer.concat([kept, bytes])
    const heard: Buffer[] = []
    let from = 0
    while (all.length - from >= HEAD) {
      const to = from + 1 + all.readInt32BE(from + 1)
      if (to > all.length) break
      if (!isDeaf || all[from] !== NOTIFICATION) heard.push(all.subarray(from, to))
      from = to
    }
    kept = all.subarray(from)
    return Buffer.concat(heard)
  }
}
