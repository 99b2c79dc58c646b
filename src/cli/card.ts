import stringWidth from 'string-width'
import { colours } from './colours.js'

/** What is known of one thing, a line for each fact; those that are null are left out. Longer texts go below their name. */
export function formatCard(
  title: string,
  facts: readonly (readonly [name: string, value: string | null])[],
): string {
  const known = facts.filter((fact): fact is readonly [string, string] => fact[1] !== null)
  const width = known.reduce((widest, [name]) => Math.max(widest, stringWidth(name)), 0)
  const lines = known.map(([name, value]) => {
    const label = colours.dim(name.padEnd(width))
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
