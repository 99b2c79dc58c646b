import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { unpack } from './unpack.js'

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-unpack-'))
let folders = 0

afterAll(() => fs.rmSync(scratch, { recursive: true }))

function entry(name: string, type: string, content = ''): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0)
  header.write(content.length.toString(8).padStart(11, '0'), 124)
  header.write(type, 156)
  return Buffer.concat([header, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)])
}

function unpacked(...parts: Buffer[]): string {
  folders += 1
  const folder = path.join(scratch, String(folders))
  const { buffer, byteOffset, byteLength } = Buffer.concat(parts)
  unpack(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer, folder)
  return folder
}

const END = Buffer.alloc(1_024)

it('writes files and folders, whatever their size, for their owner alone', () => {
  const whole = 'y'.repeat(512)
  const parts = [entry('/base', '5'), entry('/base/1', '0', 'x'.repeat(700)), entry('/base/2', '0', whole)]
  const folder = unpacked(...parts, entry('/base/empty', '0'), entry('/notify', '5'), END)
  expect(fs.readdirSync(folder, { recursive: true }).sort()).toEqual(
    ['base', 'notify', ...['1', '2', 'empty'].map((name) => path.join('base', name))].sort(),
  )
  expect(fs.readFileSync(path.join(folder, 'base/1'), 'utf8')).toBe('x'.repeat(700))
  expect(fs.readFileSync(path.join(folder, 'base/2'), 'utf8')).toBe(whole)
  expect(fs.readFileSync(path.join(folder, 'base/empty'), 'utf8')).toBe('')
  if (process.platform !== 'win32') expect(fs.statSync(path.join(folder, 'base/1')).mode & 0o777).toBe(0o600)
})

it('refuses an archive that was cut off, and one that holds something else', () => {
  const file = entry('/file', '0', 'x'.repeat(700))
  expect(() => unpacked(file.subarray(0, 1_024))).toThrow('the archive ends in the middle of a file')
  expect(() => unpacked(entry('/link', '2'), END)).toThrow(
    'the archive holds "/link", which is neither a file nor a folder',
  )
})
