import { execFile, type SpawnOptionsWithoutStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const own = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))

export const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'

export interface Ended {
  status: number | null
  /** Standard output and standard error. */
  output: string
}

/** A folder with a package.json and nothing else, as somebody would begin. */
export class EmptyProject {
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-project-'))

  constructor(manifest: Record<string, unknown> = {}) {
    this.write('package.json', JSON.stringify({ name: 'empty', private: true, ...manifest }))
  }

  write(name: string, text: string): void {
    fs.writeFileSync(path.join(this.folder, name), text)
  }

  /** As a user would. */
  async install(...specs: string[]): Promise<void> {
    const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', ...specs]
    await promisify(execFile)(npm, args, { cwd: this.folder })
  }

  /**
   * The tarball unpacked, and beside it links to the packages that it depends on and to those that are named: no network, and
   * half a second. A package that it uses without saying so is missing here too.
   */
  async installLinked(tarball: string, ...names: string[]): Promise<void> {
    const packages = path.join(this.folder, 'node_modules')
    const target = path.join(packages, own.name)
    fs.mkdirSync(target, { recursive: true })
    await promisify(execFile)('tar', ['-xzf', tarball, '--strip-components=1', '-C', target])
    for (const name of [...Object.keys(own.dependencies), ...names]) {
      fs.mkdirSync(path.dirname(path.join(packages, name)), { recursive: true })
      fs.symlinkSync(path.join(root, 'node_modules', name), path.join(packages, name), 'junction')
    }
  }

  /** Runs a command to its end in the folder, without the database and the time zone of the tests. */
  async run(command: string, args: readonly string[]): Promise<Ended> {
    const child = this.spawn(command, args)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    const [status] = await once(child, 'close')
    return { status, output }
  }

  spawn(command: string, args: readonly string[], options: SpawnOptionsWithoutStdio = {}) {
    const { DATABASE_URL: _, TZ: __, NODE_OPTIONS: ___, ...env } = process.env
    return spawn(command, args, {
      ...options,
      cwd: this.folder,
      env: { ...env, NO_COLOR: '1', ...options.env },
    })
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true })
  }
}
