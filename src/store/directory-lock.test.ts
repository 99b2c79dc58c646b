import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type DirectoryLock, lockDirectory, readDirectoryLock } from './directory-lock.js'

let directory: string
const held: DirectoryLock[] = []

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-lock-')))
})

afterEach(async () => {
  await Promise.all(held.splice(0).map((lock) => lock.release()))
  rmSync(directory, { recursive: true, force: true })
})

async function take(path = directory): Promise<DirectoryLock> {
  const lock = await lockDirectory(path)
  held.push(lock)
  return lock
}

async function release(lock: DirectoryLock): Promise<void> {
  held.splice(held.indexOf(lock), 1)
  await lock.release()
}

it('is refused to the same process as well', async () => {
  await take()
  await expect(take()).rejects.toMatchObject({
    code: 'directory_in_use',
    details: { directory, pid: process.pid, url: null },
  })
})

it('is given to one of many that ask at the same time', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => take()))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

it('says who holds it and where that one listens', async () => {
  const lock = await take()
  expect(await readDirectoryLock(directory)).toEqual({
    pid: process.pid,
    startedAt: expect.any(Date),
    url: null,
  })
  await lock.update({ url: 'http://127.0.0.1:4680' })
  expect(await readDirectoryLock(directory)).toMatchObject({ url: 'http://127.0.0.1:4680' })
  await expect(take()).rejects.toThrow(
    `${directory} is in use by process ${process.pid} (http://127.0.0.1:4680). ` +
      'Talk to that one, stop it, or choose another directory.',
  )
})

it('leaves nothing behind when it is released, and can be taken again', async () => {
  await release(await take())
  expect(readdirSync(directory)).toEqual([])
  expect(await readDirectoryLock(directory)).toBeNull()
  await take()
})

it('is free in a directory that does not exist', async () => {
  expect(await readDirectoryLock(join(directory, 'absent'))).toBeNull()
})

it('holds for a directory reached by a path too long for a socket', async () => {
  const long = join(directory, 'x'.repeat(60), 'y'.repeat(60))
  mkdirSync(long, { recursive: true })
  await take(long)
  await expect(take(long)).rejects.toMatchObject({ code: 'directory_in_use' })
  expect(await readDirectoryLock(long)).toMatchObject({ pid: process.pid })
})

it('does not believe a file that says it is held when nobody listens', async () => {
  writeFileSync(join(directory, 'lock'), JSON.stringify({ pid: 1, startedAt: new Date(0), url: null }))
  expect(await readDirectoryLock(directory)).toBeNull()
  await take()
  expect(await readDirectoryLock(directory)).toMatchObject({ pid: process.pid })
})

it('is held while somebody listens, even if the file is gone', async () => {
  const server = createServer().listen(join(directory, 'lock.sock'))
  await new Promise((resolve) => server.once('listening', resolve))
  await expect(take()).rejects.toThrow('is in use by another process')
  await new Promise((resolve) => server.close(resolve))
})

it('is taken past the guard of a process that died while taking it', async () => {
  const guard = join(directory, 'lock.guard')
  mkdirSync(guard)
  const longAgo = new Date('2020-01-01T00:00:00Z')
  utimesSync(guard, longAgo, longAgo)
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => take()))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(readdirSync(directory).sort()).toEqual(['lock', 'lock.sock'])
})
