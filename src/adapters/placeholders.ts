const PLACEHOLDER = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g

/** A statement's text between its placeholders `$1`, `$2`, …, and the values of these in the order of the text. */
export function splitAtPlaceholders(text: string, params: readonly (string | null)[]) {
  const texts: string[] = []
  const values: (string | null)[] = []
  let end = 0
  for (const match of text.matchAll(PLACEHOLDER)) {
    // What is quoted is a name or a literal, whatever it looks like.
    if (match[1] === undefined) continue
    texts.push(text.slice(end, match.index))
    values.push(params[Number(match[1]) - 1] ?? null)
    end = match.index + match[0].length
  }
  return { texts: [...texts, text.slice(end)], values }
}
