import stringWidth from 'string-width'
import { colours } from './colours.js'

/**
 * What is known of one thing, a line for each fact; those that are null or an empty list are left out. A list has a line for
 * each of its texts; a text of several lines goes below its name.
 */
export function formatCard(
  title: string,
  facts: readonly (readonly [name: string, value: string | readonly string[] | null])[],
): string {
  const known = facts.filter((fact): fact is readonly [string, string | readonly string[]] => {
    const [, value] = fact
    return typeof value === 'string' || (value !== null && value.length > 0)
  })
  const width = known.reduce((widest, [name]) => Math.max(widest, stringWidth(name)), 0)
  const lines = known.map(([name, value]) => {
    const label = colours.dim(name.padEnd(width))
    if (typeof value !== 'string') return `${label}  ${value.join(`\n${' '.repeat(width)}  `)}`
    return value.includes('\n') ? `${label}\n${indented(value)}` : `${label}  ${value}`
  })
  return [colours.bold(title), ...lines].join('\n')
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}
