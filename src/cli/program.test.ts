import fs from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createProgram } from './program.js'

/** Each command that does something, with the words that lead to it. */
function leavesOf(command: Command, path: string): [string, Command][] {
  if (command.commands.length === 0) return [[path, command]]
  const visible = command.createHelp().visibleCommands(command)
  return visible
    .filter((each) => each.name() !== 'help')
    .flatMap((each) => leavesOf(each, `${path} ${each.name()}`))
}

const leaves = leavesOf(createProgram(), 'escapement')
/** These print a script, or lines of a log, which has a flag of its own. */
const WITHOUT_JSON = ['escapement up', 'escapement worker', 'escapement scheduler', 'escapement completion']

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({
    writeOut(written) {
      text += written
    },
  })
  command.outputHelp()
  return text
}

describe.each(leaves)('%s', (path, command) => {
  it('says in help what it does, in a line and at length', () => {
    expect(command.summary()).toMatch(/^[a-z].*[^.]$/)
    expect(command.description()).toMatch(/^[A-Z].*\.$/s)
  })

  it('has examples whose flags it knows', () => {
    const [, after = ''] = helpOf(command).split('\nExamples:\n')
    const own = after.split('\n').filter((line) => line.includes(path))
    expect(own.length).toBeGreaterThanOrEqual(2)
    const known = command.options.flatMap(({ long, short }) => [long, short])
    for (const line of own) {
      const [typed] = line.slice(line.indexOf(path)).split(/ [|#>] /)
      const flags = typed!.replace(/"[^"]*"|'[^']*'/g, '').match(/(?<= )--?[a-z][\w-]*/g) ?? []
      expect(known).toEqual(expect.arrayContaining(flags))
    }
  })

  it('prints JSON if asked, unless it has nothing to print', () => {
    const hasJson = command.options.some(({ long }) => long === '--json')
    expect(hasJson).toBe(!WITHOUT_JSON.includes(path))
  })
})

/** Whatever doctor tells people to type, as it is in the source. */
function commandsOfDoctor(): string[] {
  const folder = new URL('../client/examining/', import.meta.url)
  const files = fs.readdirSync(folder).map((name) => new URL(name, folder))
  files.push(
    new URL('../client/doctor.ts', import.meta.url),
    new URL('failed-connection.ts', import.meta.url),
  )
  const sources = files.map((file) => fs.readFileSync(file, 'utf8')).join('\n')
  return [...new Set([...sources.matchAll(/(['`])(escapement .+)\1/g)].map(([, , command]) => command!))]
}

describe('the command line', () => {
  it('knows every command that doctor tells, and its flags', () => {
    const told = commandsOfDoctor()
    expect(told).toEqual(expect.arrayContaining(['escapement worker', 'escapement sweep --quarantined']))
    for (const text of told) {
      const [, ...words] = text.replaceAll(/\$\{.*?\}/g, 'x').split(' ')
      let command = createProgram()
      for (;;) {
        const next = command.commands.find((each) => each.name() === words[0])
        if (!next) break
        command = next
        words.shift()
      }
      const { operands, unknown } = command.parseOptions(words)
      expect(unknown, text).toEqual([])
      expect(command.commands, text).toEqual([])
      const { registeredArguments: known } = command
      expect(operands.length, text).toBeGreaterThanOrEqual(known.filter(({ required }) => required).length)
      expect(operands.length, text).toBeLessThanOrEqual(known.length)
    }
  })
})
