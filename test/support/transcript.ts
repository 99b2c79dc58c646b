/**
 * Transcripts in a page of the docs: each line of a `console` block that begins with `$ ` is typed at a terminal, and what follows it must
 * be what then stands there. What differs from one time to the next, such as ids and times of day, counts as the same.
 */
export interface Transcript {
  command: string
  output: string
}

const BLOCK = /^```console\n([\s\S]*?)^```$/gm

export function readTranscripts(page: string): Transcript[] {
  return [...page.matchAll(BLOCK)].flatMap(([, block]) => readBlock(block!))
}

function readBlock(block: string): Transcript[] {
  return block
    .split(/^(?=\$ )/m)
    .filter((part) => part.startsWith('$ '))
    .map((part) => {
      const [command, ...rest] = part.slice(2).split('\n')
      return { command: command!, output: rest.join('\n').trimEnd() }
    })
}

/** The page with what was seen in place of what it had, block by block and in the same order. */
export function writeTranscripts(page: string, seen: readonly Transcript[]): string {
  const left = [...seen]
  return page.replace(BLOCK, (_, block: string) => {
    const own = left.splice(0, readBlock(block).length)
    const text = own
      .map(({ command, output }) => `$ ${command}\n${output === '' ? '' : `${output}\n`}`)
      .join('\n')
    return `\`\`\`console\n${text}\`\`\``
  })
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** What a reader sees instead of what differs each time: the same for the same. `ids` are those that came up, in their order. */
export function createSettler(): (text: string, ids: string[]) => string {
  return (text, ids) => {
    const idOf = (found: string) => {
      if (!ids.includes(found)) ids.push(found)
      const number = (ids.indexOf(found) + 1).toString(16).padStart(2, '0')
      return `01a1e074-5c${number}-7c0e-9d53-5f0c6c1b7a${number}`
    }
    return (
      text
        .replace(UUID, idOf)
        // Whatever is done now is done in the first minutes of the hour.
        .replace(
          /\b2027-03-01 13:0\d(?::\d\d)?/g,
          (time) => `2027-03-01 13:00${time.length > 16 ? ':00' : ''}`,
        )
        .replace(/\b\d+ (?:second|minute)s? ago\b/g, '5 seconds ago')
        .replace(/\(now\)/g, '(5 seconds ago)')
        .replace(/\b\d+(?:\.\d+)? ms\b/g, '5 ms')
        .replace(/127\.0\.0\.1:\d{2,}/g, '127.0.0.1:4680')
        .replace(/time zone data \w+/g, 'time zone data 2026c')
        .replace(/(?<=schema escapement |is up to date \()\d+/g, '14')
        .replace(/esc_[\w-]{20,}/g, 'esc_01a1e0745c017c0e9d535f0c6c1b7a01')
        .replace(/\b[\w.-]+:\d{2,7}(?= +(?:alive|lost))/g, 'web-1:4242')
    )
  }
}

/** For comparing: how wide a column is depends on what stands in it, and so does where the last one is cut. Seconds are shown unless all of a column are whole minutes. */
export function withoutWidths(text: string): string {
  return text
    .split('\n')
    .map((line) =>
      line
        .replaceAll('2027-03-01 13:00:00', '2027-03-01 13:00')
        .replace(/ {2,}/g, '  ')
        .replace(/( {2}\S+ \S+)(?:(?! {2})[^…])*…/g, '$1…')
        .replace(/[█▏▎▍▌▋▊▉]+/g, '█')
        .trimEnd(),
    )
    .join('\n')
}
