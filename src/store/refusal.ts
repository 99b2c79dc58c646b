/**
 * Whether the database refused the values of a statement, as opposed to not answering at all: classes 22 and 23, and 54
 * for what is too large, such as a text that no index can hold.
 */
export function isRefusal(error: unknown): boolean {
  return /^(22|23|54)/.test(String((error as { code?: unknown } | null)?.code))
}
