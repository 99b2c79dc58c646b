import { expect, it } from 'vitest'
import { SERVE_DEFAULTS } from '../server/serve.js'
import { parseQueues } from './process-flags.js'
import { createProgram } from './program.js'

it('queues are read with and without spaces, and an empty one is refused', () => {
  expect(parseQueues('mail')).toEqual(['mail'])
  expect(parseQueues('fast, slow')).toEqual(['fast', 'slow'])
  for (const text of ['', 'a,', ',a', 'a,,b']) expect(() => parseQueues(text)).toThrow('a list of queues')
})

it('the help names the address that up has by default', () => {
  const help = createProgram()
    .commands.find((command) => command.name() === 'up')!
    .helpInformation()
  expect(help).toContain(`(default: ${SERVE_DEFAULTS.port})`)
  expect(help.replaceAll(/\s+/g, ' ')).toContain(`(default: ${SERVE_DEFAULTS.host})`)
})
