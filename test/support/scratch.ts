import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const MEMORY = '/dev/shm'
const PREFIX = 'escapement-tests-'
const GIBIBYTE = 2 ** 30

/** Several servers with their logs at a time, and as much again for everything else. */
const ROOM = 8 * GIBIBYTE

/**
 * What tests write and throw away goes into memory where there is plenty. On ext4 a new file must not take the place of
 * one that was deleted in the last minutes, and the search for another place made each file up to forty times as
 * dear: tests that create and drop schemas spent a third of their time on it. No test sees whether a disk is beneath,
 * since none cuts the power.
 */
export default function setup(): void {
  const folder = path.join(MEMORY, `${PREFIX}${process.pid}`)
  // Each project of a run loads this file for itself.
  if (os.tmpdir() === folder) return
  removeAbandoned()
  if (!hasRoom()) return
  // Kept between runs, and so on disk.
  process.env.ESCAPEMENT_TEST_BINARIES ??= os.tmpdir()
  fs.mkdirSync(folder)
  // A server that was started by root runs as somebody else.
  fs.chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
}

function hasRoom(): boolean {
  if (!fs.existsSync(MEMORY)) return false
  const { bavail, bsize } = fs.statfsSync(MEMORY)
  return Math.min(bavail * bsize, process.availableMemory()) >= ROOM
}

/** A run that was killed could not tidy up. */
function removeAbandoned(): void {
  if (!fs.existsSync(MEMORY)) return
  for (const name of fs.readdirSync(MEMORY)) {
    if (!name.startsWith(PREFIX) || isAlive(Number(name.slice(PREFIX.length)))) continue
    fs.rmSync(path.join(MEMORY, name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
