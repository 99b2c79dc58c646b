import { execFile } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { EmptyProject, npm } from '../support/empty-project.js'
import { SHORT_LIVED } from '../support/short-lived.js'

/** In full it installs from npm, into each kind of project, and runs on each Node. */
const LONG = process.env.ESCAPEMENT_TEST_LONG !== undefined

const root = fileURLToPath(new URL('../..', import.meta.url))
const { devDependencies } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))

/** Code of a page that stands for itself, by what it calls. */
function codeOf(page: string, call: string): string {
  const text = fs.readFileSync(path.join(root, page), 'utf8')
  const blocks = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!)
  const code = blocks.find((block) => /^(?:\/\/ \S+\n)?import /.test(block) && block.includes(call))
  if (!code) throw new Error(`${page} has no code block that calls ${call}`)
  return code
}

/** The main program, which runs on: here it ends when it has come to its end. */
const PROGRAM = `${codeOf('README.md', 'createEscapement(')}\nawait escapement.close()\n`
const TEST = codeOf('docs/guide/testing.md', 'createHarness(')
const CONFIG_FILE = 'escapement.config.ts'
const FIRST_SCHEDULE = codeOf('docs/guide/first-schedule.md', 'defineConfig(')
const MAIN = 'node_modules/escapement/dist/cli/main.js'

/** The same for CommonJS: nothing else is to change. */
function asCommonJs(code: string): string {
  const required = code.replace(/^import (\{[^}]+\}) from ('[^']+')$/gm, 'const $1 = require($2)')
  return `(async () => {\n${required}\n})()\n`
}

const PRINTED = /At 09:00, Monday to Friday, New York time[\s\S]*(?:\d{4}-\d{2}-\d{2}T1[34]:00:00[\s\S]*){3}/
const HARNESS_PRINTED = '2026-03-29T02:00:00.000Z'

const packed = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-packed-'))
let tarball: string
beforeAll(async () => {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', packed]
  const { stdout } = await promisify(execFile)(npm, args, { cwd: root })
  tarball = path.join(packed, JSON.parse(stdout)[0].filename)
})
afterAll(() => fs.rmSync(packed, { recursive: true, force: true }))

function emptyProject(manifest?: Record<string, unknown>): EmptyProject {
  const project = new EmptyProject(manifest)
  onTestFinished(() => project.remove())
  return project
}

const tsconfig = (module: string, moduleResolution: string) =>
  JSON.stringify({
    compilerOptions: {
      target: 'es2022',
      module,
      moduleResolution,
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      types: ['node'],
      noEmit: true,
    },
    files: ['program.ts', 'program.test.ts', 'imports.ts'],
  })

const RESOLUTIONS = [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
] as const

/** Every entry, with its types. */
const IMPORTS = [
  '',
  '/time',
  '/server',
  '/testing',
  '/http-client',
  '/drizzle',
  '/kysely',
  '/prisma',
  '/knex',
]
const imports = `${IMPORTS.map((entry, index) => `import * as entry${index} from 'escapement${entry}'`).join('\n')}
const entries: object[] = [${IMPORTS.map((_, index) => `entry${index}`).join(', ')}]
console.log(entries.length, entries.every((entry) => Object.keys(entry).length > 0))
`

async function typeChecks(project: EmptyProject, module: string, resolution: string): Promise<void> {
  project.write('tsconfig.json', tsconfig(module, resolution))
  project.write('program.ts', PROGRAM)
  project.write('program.test.ts', TEST)
  project.write('imports.ts', imports)
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  expect(await project.run(process.execPath, [compiler, '-p', '.'])).toEqual({ status: 0, output: '' })
}

describe('packed and unpacked elsewhere, with what it declares to need', () => {
  it.each([
    ['ESM', { type: 'module' }, PROGRAM],
    ['CommonJS', {}, asCommonJs(PROGRAM)],
  ])('the package does what the README says in an empty %s project', async (_, manifest, program) => {
    const project = emptyProject(manifest)
    await project.installLinked(tarball)
    project.write('program.js', program)
    expect(await project.run(process.execPath, [...SHORT_LIVED, 'program.js'])).toEqual({
      status: 0,
      output: expect.stringMatching(PRINTED),
    })
  })

  it.each(RESOLUTIONS)('it has types for module %s and moduleResolution %s', async (module, resolution) => {
    const project = emptyProject({ type: 'module' })
    await project.installLinked(tarball, '@types/node')
    await typeChecks(project, module, resolution)
  })
})

if (LONG)
  describe('installed from the tarball', () => {
    const versions = ['20', '22', '24', '26']
    const nodes = new EmptyProject()
    const projects = new Map<string, EmptyProject>()

    /** Binaries of other versions are packages too. */
    const nodeOf = (version: string) =>
      process.versions.node.startsWith(`${version}.`)
        ? process.execPath
        : path.join(nodes.folder, 'node_modules', `node-${version}`, 'bin/node')

    beforeAll(async () => {
      const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
      const others = versions.filter((version) => nodeOf(version) !== process.execPath)
      await nodes.install(...others.map((version) => `node-${version}@npm:${name}@${version}`))
      for (const [kind, manifest] of Object.entries({ ESM: { type: 'module' }, CommonJS: {} })) {
        const project = new EmptyProject(manifest)
        await project.install(tarball)
        projects.set(kind, project)
      }
      projects.get('ESM')!.write('program.js', PROGRAM)
      projects.get('ESM')!.write('harness.js', TEST)
      projects.get('ESM')!.write('imports.js', imports.replace(': object[]', ''))
      projects.get('CommonJS')!.write('program.js', asCommonJs(PROGRAM))
      projects.get('CommonJS')!.write('harness.js', asCommonJs(TEST))
    })
    afterAll(() => {
      for (const project of [nodes, ...projects.values()]) project.remove()
    })

    describe.each(versions)('on Node %s', (version) => {
      it('is the version that is asked for', async () => {
        const { output } = await nodes.run(nodeOf(version), ['--version'])
        expect(output).toMatch(new RegExp(`^v${version}\\.`))
      })

      it.each(version === '20' ? ['ESM'] : ['ESM', 'CommonJS'])(
        'the code of the README runs in an empty %s project',
        async (kind) => {
          const project = projects.get(kind)!
          const program = await project.run(nodeOf(version), ['program.js'])
          expect(program).toEqual({ status: 0, output: expect.stringMatching(PRINTED) })
          expect(program.output).not.toMatch(/warning/i)
          const harness = await project.run(nodeOf(version), ['harness.js'])
          expect(harness).toEqual({ status: 0, output: expect.stringContaining(HARNESS_PRINTED) })
        },
      )

      it('every entry can be imported', async () => {
        const result = await projects.get('ESM')!.run(nodeOf(version), ['imports.js'])
        expect(result).toEqual({ status: 0, output: `${IMPORTS.length} true\n` })
      })

      it('the first schedule of the guide fires', async () => {
        const project = projects.get('ESM')!
        project.write(CONFIG_FILE, FIRST_SCHEDULE)
        const child = project.spawn(nodeOf(version), [
          MAIN,
          'up',
          '--port',
          '0',
          '--directory',
          `.first-${version}`,
        ])
        const closed = once(child, 'close')
        let output = ''
        await new Promise<void>((resolve) => {
          child.stdout.setEncoding('utf8').on('data', (text) => {
            output += text
            if (output.includes('hello:world')) resolve()
          })
          child.once('close', () => resolve())
        })
        child.kill('SIGINT')
        fs.rmSync(path.join(project.folder, CONFIG_FILE))
        expect(output).toMatch(/2 schedules put[\s\S]*✔ .* hello:world/)
        expect((await closed)[0]).toBe(0)
      })

      it('"escapement up" serves the dashboard, and stops', async () => {
        await servesAndStops(projects.get('ESM')!, nodeOf(version), [MAIN, 'up', '--port', '0'])
      })
    })

    it.each(RESOLUTIONS)(
      'TypeScript takes it with module %s and moduleResolution %s',
      async (module, resolution) => {
        const project = emptyProject({ type: 'module' })
        const wanted = ['typescript', '@types/node'].map((name) => `${name}@${devDependencies[name]}`)
        await project.install(tarball, ...wanted)
        await typeChecks(project, module, resolution)
      },
    )

    it('"npx escapement up" serves the dashboard in an empty folder, and Ctrl+C stops it', async () => {
      const project = emptyProject()
      fs.rmSync(path.join(project.folder, 'package.json'))
      await servesAndStops(project, npm, [
        'exec',
        '--yes',
        '--package',
        tarball,
        '--',
        'escapement',
        'up',
        '--port',
        '0',
      ])
      expect(fs.readdirSync(project.folder)).toEqual(['.escapement'])
    })
  })

async function servesAndStops(project: EmptyProject, command: string, args: string[]): Promise<void> {
  // A group of its own: Ctrl+C in a terminal goes to all of them.
  const child = project.spawn(command, args, { detached: true })
  const closed = once(child, 'close')
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
        const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
        if (address) resolve(address)
      })
    }
    void closed.then(([status]) => reject(new Error(`ended with ${status}: ${output}`)))
  })
  try {
    expect(await (await fetch(`${url}/ready`)).json()).toMatchObject({ status: 'ready' })
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
    const [, script] = /<script[^>]+src="([^"]+)"/.exec(page)!
    const answer = await fetch(new URL(script!, `${url}/`))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('javascript'),
    ])
    await answer.body!.cancel()
  } finally {
    process.kill(-child.pid!, 'SIGINT')
  }
  const [status, signal] = await closed
  // npm ends itself by the signal that it got.
  expect([0, 'SIGINT']).toContain(status ?? signal)
  await expect(fetch(url)).rejects.toThrow('fetch failed')
}
