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
    /^(Query read timeout|Connection terminated|Client has encountered a connection error)/.test(
      String(message),
    )
  )
}

/**
 * Whether the fault of a statement may lie in one of the rows that it was to change, or with what the user's triggers,
 * constraints and policies say of it. These raise codes of any kind: it is all that the server says without ending the
 * transaction, but for conflicts (40), resources (53), locks (55P03) and cancelling (57), and for what it says of a place in the
 * statement's own text, which is the same for each row.
 */
export function isRowFault(error: unknown): boolean {
  const { code, position, routine } = (error ?? {}) as Record<string, unknown>
  const isByServer = /^[0-9A-Z]{5}$/.test(String(code)) && (/\d/.test(String(code)) || routine !== undefined)
  return isByServer && position === undefined && !/^(08|25P|40001|40P01|53|55P03|57)/.test(String(code))
}

/**
 * Whether a fault that all rows have is rather that of the table: what is missing, not allowed (42) or not possible (0A, 25, 26),
 * unless a trigger has said so in words of its own, or a policy of the row.
 */
export function isTableFault(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as Record<string, unknown>
  const isOfRow = routine === 'exec_stmt_raise' || routine === 'ExecWithCheckOptions'
  return /^(0A|25|26|42)/.test(String(code)) && !isOfRow
}

/** Whether one statement took longer than this side waits for it, by our deadline or by that of a caller's own pool. */
export function isPastDeadline(error: unknown): boolean {
  return String((error as { message?: unknown } | null)?.message).startsWith('Query read timeout')
}

/** Whether one statement took longer than the server lets it, or than this side waits for it. */
export function hasTakenTooLong(error: unknown): boolean {
  return isPastDeadline(error) || (error as { code?: unknown } | null)?.code === '57014'
}

/** Whether the server has answered, be it with a refusal: the way to it is open, and another statement may well succeed. */
export function isRefusedByServer(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code)
  // Codes of the host, such as EPIPE, have no digit.
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(code) && !/^(08|57P)/.test(code)
}

/** Whether two waited for each other and the server has undone this one: the other is done by now. */
export function isDeadlock(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === '40P01'
}

/** A lock that was waited for too long, or in a circle; a snapshot that was overtaken. */
export function isContended(error: unknown): boolean {
  return /^(55P03|40P01|40001)$/.test(String((error as { code?: unknown } | null)?.code))
}
