import fs from 'node:fs'
import { describe, expect, it } from 'vitest'

interface Lock {
  packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>
}

describe.each(['../package-lock.json', 'integrations/package-lock.json'])('%s', (file) => {
  const lock: Lock = JSON.parse(fs.readFileSync(new URL(file, import.meta.url), 'utf8'))

  it('names no download address', () => {
    expect(Object.values(lock.packages).filter(({ resolved }) => resolved !== undefined)).toEqual([])
  })

  it('has the optional packages of every platform, so that npm ci takes it everywhere', () => {
    const wanted = Object.values(lock.packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    )
    expect(wanted.filter((name) => !lock.packages[`node_modules/${name}`])).toEqual([])
  })
})
