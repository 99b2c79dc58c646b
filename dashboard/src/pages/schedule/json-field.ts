export type JsonField = { value?: unknown; mistake?: undefined } | { mistake: string }

/** What was typed as JSON; nothing where nothing was typed. */
export function readJson(text: string): JsonField {
  if (text.trim() === '') return {}
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { mistake: `Is no JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}
