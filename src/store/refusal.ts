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

/**
 * Whether the fault lies in a row that a statement was to change, or with what the user's triggers, constraints and policies
 * say of it: classes 21 to 23, 27, 44 and 54, what functions raise (P0, 2F, 38, 39), and what row security denies (42501, unless
 * it is the whole table that this user may not touch).
 */
export function isRowFault(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown }
  if (code === '42501') return routine !== 'aclcheck_error'
  return /^(21|22|23|27|2F|38|39|44|54|P0)/.test(String(code))
}

/** Whether the server has answered, be it with a refusal: the way to it is open, and another statement may well succeed. */
export function isRefusedByServer(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code)
  // Codes of the host, such as EPIPE, have no digit.
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(code) && !/^(08|57P)/.test(code)
}
