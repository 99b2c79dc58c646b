import { Command } from 'commander'
import { afterEach, expect, it, vi } from 'vitest'
import { type DatabaseFlags, databaseOf, withDatabaseFlags } from './connection.js'

afterEach(() => vi.unstubAllEnvs())

function databaseFor(...args: string[]) {
  const command = withDatabaseFlags(new Command()).parse(args, { from: 'user' })
  return databaseOf(command.opts<DatabaseFlags>(), command)
}

it('a variable that is set to nothing names no database', () => {
  vi.stubEnv('DATABASE_URL', '')
  expect(databaseFor()).toEqual({ directory: './.escapement' })
  vi.stubEnv('DATABASE_URL', 'postgres://localhost/app')
  expect(databaseFor()).toBe('postgres://localhost/app')
  expect(databaseFor('--directory', 'here')).toEqual({ directory: 'here' })
})
