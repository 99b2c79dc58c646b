import type { Command } from 'commander'

/** Each `escapement …` of a script, without what comes before it and what it is piped into. */
export function commandsIn(script: string): string[] {
  const lines = script.replace(/\\\n\s*/g, ' ').split('\n')
  return lines.flatMap((line) => {
    const code = line.replace(/^\$ /, '').replace(/(^|\s)#.*/, '')
    const parts = code.match(/(?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^|;&"'])+/g) ?? []
    return parts.flatMap((part) => /(?:^|[\s(])(escapement(?: .*)?)$/.exec(part.trim())?.[1] ?? [])
  })
}

/** What is wrong with it by the program's own account, or null. */
export function mistakeIn(line: string, program: Command): string | null {
  const words = wordsOf(line).slice(1)
  let command = program
  const given: string[] = []
  while (words.length > 0) {
    const word = words.shift()!
    if (/^[<>]|^\d>/.test(word) && !/^<[\w ]+>$/.test(word)) {
      words.shift()
      continue
    }
    if (word.startsWith('-') && word !== '-') {
      const option = optionOf(command, word.split('=')[0]!)
      if (!option) return `${line}: ${pathOf(command)} has no ${word}`
      if (option.takesValue && !word.includes('=')) words.shift()
      continue
    }
    const child = given.length === 0 ? command.commands.find((each) => each.name() === word) : undefined
    if (child) command = child
    else if (command.commands.length > 0) return `${line}: there is no ${pathOf(command)} ${word}`
    else given.push(word)
  }
  const { registeredArguments: known } = command
  if (given.length > known.length && !known.at(-1)?.variadic)
    return `${line}: too many words for ${pathOf(command)}`
  return null
}

function optionOf(command: Command, flag: string): { takesValue: boolean } | undefined {
  if (['--help', '-h', '--version'].includes(flag)) return { takesValue: false }
  for (let each: Command | null = command; each; each = each.parent) {
    const option = each.options.find(({ long, short }) => long === flag || short === flag)
    if (option) return { takesValue: option.required || option.optional }
  }
  return undefined
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

function wordsOf(line: string): string[] {
  return line.match(/(?:"[^"]*"|'[^']*'|\$\([^)]*\)|<[\w ]+>|[^\s"'])+/g) ?? []
}
