import { execFile } from 'node:child_process'
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { scripts } = JSON.parse(fs.readFileSync(`${root}/package.json`, 'utf8'))

it('the blog prints what the README of the examples says', async () => {
  // The build is there already: the rest of the command is run as it is.
  const [, command] = scripts['example:blog'].split(' && ')
  const [, ...args] = command.split(' ')
  const { DATABASE_URL: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env })
  const readme = fs.readFileSync(`${root}/examples/README.md`, 'utf8')
  const [, printed] = /example:blog` prints:\n\n```\n([\s\S]*?)```/.exec(readme)!
  // A machine that stalls for half a second has two changes in one sweep, which then come row by row.
  expect(stdout.split('\n').sort()).toEqual(printed!.split('\n').sort())
})
