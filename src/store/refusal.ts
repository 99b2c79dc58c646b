/**
 * Whether the database refused the values of a statement, as opposed to not answering at all: classes 22 and 23, and 54
 * for what is too large, such as a text that no index can hold.
 */
export function isRefusal(error: unknown): boolean {
  return /^(22|23|54)/.test(String((error as { code?: unknown } | null)?.code))
}

/**
 * Whether the database, or the way to it, has given a transaction up that was under way, as it does with one that takes too
 * long: it was cancelled (57014), ended for being idle (25P03) or with the server (57P01), was out of memory (53200), passed
 * our deadline, or lost its connection.
 */
export function isCutOff(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return (
    /^(57014|25P03|57P01|53200|EPIPE|ECONNRESET)$/.test(String(code)) ||
    /^(Query read timeout|Connection terminated)/.test(String(message))
  )
}
