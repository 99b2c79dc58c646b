import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import v8 from 'node:v8'
import { expect, it, onTestFinished } from 'vitest'

// Compiling the engine well takes longer than these take.
v8.setFlagsFromString('--liftoff-only')

const root = fileURLToPath(new URL('../..', import.meta.url))
const guide = fs.readFileSync(path.join(root, 'docs/guide/testing.md'), 'utf8')
const [harness, simulation] = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!)

/** Runs code of the guide against the build; what it names with `names` is given. */
async function run(code: string, names: string): Promise<Record<string, unknown>> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'escapement-guide-'))
  onTestFinished(() => fs.rmSync(directory, { recursive: true }))
  const file = path.join(directory, 'guide.mjs')
  const at = (module: string) => `'${pathToFileURL(path.join(root, 'dist', module))}'`
  const linked = code
    .replaceAll(`'escapement/testing'`, at('testing/index.js'))
    .replaceAll(`'escapement'`, at('index.js'))
  fs.writeFileSync(file, `${linked}\nexport { ${names} }\n`)
  return import(/* @vite-ignore */ pathToFileURL(file).href)
}

it('the harness of the guide gives what the guide says', async () => {
  const asked = `await h.planTimes('hourly')`
  const kept = harness!.replace(`console.log(${asked})`, `const planTimes = ${asked}`)
  const { planTimes } = await run(kept, 'planTimes')
  const [, said] = /planTimes\('hourly'\)\) \/\/ (.*)/.exec(harness!)!
  expect(planTimes).toEqual(JSON.parse(said!.replaceAll(`'`, '"')))
})

it('the simulation of the guide plays', async () => {
  const { report } = await run(simulation!, 'report')
  expect(report).toMatchObject({ seed: 42, trace: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect((report as { executions: number }).executions).toBeGreaterThan(0)
})
