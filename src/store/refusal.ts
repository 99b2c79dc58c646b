/** Whether the database refused the values of a statement (classes 22 and 23), as opposed to not answering at all. */
export function isRefusal(error: unknown): boolean {
  return /^(22|23)/.test(String((error as { code?: unknown } | null)?.code))
}
