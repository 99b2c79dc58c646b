import { fork } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = path.join(root, 'test/integrations/node_modules')

/**
 * The example for Next.js, and what tests need besides, in a process of its own, with this package as npm would install it.
 * The checkout stays clean.
 */
export async function startNext(
  env: Record<string, string>,
): Promise<{ url: string; close(): Promise<void> }> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-next-'))
  fs.cpSync(path.join(root, 'examples/next'), folder, { recursive: true })
  fs.renameSync(path.join(folder, 'next.config.js'), path.join(folder, 'example.config.js'))
  fs.cpSync(path.join(root, 'test/integrations/next-app'), folder, { recursive: true })
  const installed = path.join(folder, 'node_modules/escapement')
  // A link to it would count as code of the application's own.
  fs.cpSync(path.join(root, 'dist'), path.join(installed, 'dist'), { recursive: true })
  fs.copyFileSync(path.join(root, 'package.json'), path.join(installed, 'package.json'))
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(installed, 'node_modules'))
  for (const name of ['next', 'react', 'react-dom']) {
    fs.symlinkSync(path.join(packages, name), path.join(folder, 'node_modules', name))
  }
  const child = fork(path.join(folder, 'server.js'), {
    env: { ...process.env, ...env, NODE_ENV: 'development', NEXT_TELEMETRY_DISABLED: '1' },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const [message] = await Promise.race([
    once(child, 'message'),
    exited.then(([code]) => Promise.reject(new Error(`Next.js ended with status ${code}.`))),
  ])
  return {
    url: message.url,
    async close() {
      child.kill()
      await exited
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}
