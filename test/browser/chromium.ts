import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import type { Browser } from 'playwright-core'

const require = createRequire(import.meta.url)
// As it is: what translates the benches while they run would translate it too, and break it.
const { chromium }: typeof import('playwright-core') = require('playwright-core')
const version = require('../../package.json').devDependencies['@sparticuz/chromium']

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A real Chromium, which comes from npm with all that it needs. */
export async function launchChromium(): Promise<Browser> {
  const folder = unpacked()
  return chromium.launch({
    executablePath: path.join(folder, 'chromium'),
    args: FLAGS,
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: path.join(folder, 'al2023', 'lib'),
      FONTCONFIG_FILE: fontsIn(folder),
    },
  })
}

/**
 * A configuration that names the fonts which came with the browser: that of the package looks for them in /tmp/fonts, and without any
 * font all text has no size, and passes for hidden.
 */
function fontsIn(folder: string): string {
  const file = path.join(folder, 'own-fonts.conf')
  const fonts = path.join(folder, 'fonts', 'fonts')
  const cache = path.join(folder, 'fonts-cache')
  fs.writeFileSync(file, `<fontconfig><dir>${fonts}</dir><cachedir>${cache}</cachedir></fontconfig>`)
  return file
}

/**
 * The folder with the browser. The package unpacks into the temporary folder, and takes what lies there whatever its
 * version; so it gets a folder of each version's own, kept between runs, which appears whole or not at all.
 */
function unpacked(): string {
  const place = process.env.ESCAPEMENT_TEST_BINARIES ?? os.tmpdir()
  const folder = path.join(place, `escapement-chromium-${version}`)
  if (fs.existsSync(folder)) return folder
  const coming = fs.mkdtempSync(`${folder}-`)
  const code = `import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())`
  const env = {
    ...process.env,
    TMPDIR: coming,
    // Without these it does not unpack the libraries that a bare system lacks.
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x',
    AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x',
  }
  execFileSync(process.execPath, ['-e', code], { env, cwd: import.meta.dirname })
  try {
    fs.renameSync(coming, folder)
  } catch (error) {
    // Another run was quicker.
    if (!fs.existsSync(folder)) throw error
    fs.rmSync(coming, { recursive: true })
  }
  return folder
}
