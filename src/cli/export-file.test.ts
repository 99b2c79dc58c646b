import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { expectFree, readExportFile, writeExport } from './export-file.js'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-export-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))
const at = (name: string) => path.join(folder, name)

async function* bytes(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

async function read(file: string): Promise<string> {
  const found: Uint8Array[] = []
  for await (const piece of readExportFile(file)) found.push(piece)
  return Buffer.concat(found).toString()
}

describe('a file of an export', () => {
  it('is for its owner only, compressed if it says so, and read whatever it is called', async () => {
    await writeExport(at('plain'), bytes('one\n', 'two\n'))
    await writeExport(at('packed.gz'), bytes('one\n', 'two\n'))
    for (const name of ['plain', 'packed.gz']) {
      expect(fs.statSync(at(name)).mode & 0o777).toBe(0o600)
      expect(await read(at(name))).toBe('one\ntwo\n')
    }
    expect(gunzipSync(fs.readFileSync(at('packed.gz'))).toString()).toBe('one\ntwo\n')
    fs.renameSync(at('packed.gz'), at('renamed'))
    expect(await read(at('renamed'))).toBe('one\ntwo\n')
  })

  it('takes the place of a file alone, and of none without a name', async () => {
    fs.mkdirSync(at('folder'))
    for (const file of [at('folder'), os.devNull]) {
      expect(() => expectFree(file, true)).toThrow(/is no file that could be replaced/)
    }
    expect(() => expectFree('', true)).toThrow(/the name of the file is empty/)
    await expect(writeExport(at('folder'), bytes('one\n'))).rejects.toMatchObject({
      code: 'option_invalid',
      message: expect.stringContaining(`Cannot write ${at('folder')}`),
    })
    expect(fs.readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  it('never has its name unless it is whole, and leaves nothing else', async () => {
    async function* failing() {
      yield Buffer.from('half')
      throw new Error('on purpose')
    }
    for (const name of ['broken', 'broken.gz']) {
      await expect(writeExport(at(name), failing())).rejects.toThrow('on purpose')
    }
    expect(fs.readdirSync(folder).filter((name) => name.startsWith('broken'))).toEqual([])
  })

  it('is not overwritten unless that is asked for, nor begun where it cannot be written', async () => {
    fs.writeFileSync(at('there'), 'mine')
    expect(() => expectFree(at('there'), false)).toThrow(
      /there exists\. Choose another name, or replace it with --force/,
    )
    expectFree(at('there'), true)
    expectFree('-', false)
    expect(() => expectFree(at('no/such/file'), false)).toThrow(
      /There is no folder .*no\/such: create it first/,
    )
  })

  it('says so when it was cut off while compressed', async () => {
    await writeExport(at('whole.gz'), bytes('one\n'.repeat(1_000)))
    fs.writeFileSync(at('cut.gz'), fs.readFileSync(at('whole.gz')).subarray(0, -12))
    await expect(read(at('cut.gz'))).rejects.toMatchObject({
      code: 'export_invalid',
      message: expect.stringContaining('cut.gz was cut off or changed'),
    })
  })
})
