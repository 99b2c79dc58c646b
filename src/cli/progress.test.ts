import { describe, expect, it } from 'vitest'
import { createProgress, describeProgress } from './progress.js'

describe('progress', () => {
  it('is a bar where the end is known, a number where it is not, and nothing before the first', () => {
    expect(describeProgress(1_000, 2_000)).toBe(`${'█'.repeat(12)}${'░'.repeat(12)} 50 % (1,000 of 2,000)`)
    expect(describeProgress(3_000, 2_000)).toBe(`${'█'.repeat(24)} 100 % (3,000 of 2,000)`)
    expect(describeProgress(12_345)).toBe('12,345')
    expect(describeProgress(0)).toBe('')
  })

  it('writes nothing where nobody watches', () => {
    const written: string[] = []
    const stream = { isTTY: false, write: (text: string) => written.push(text) > 0 }
    const progress = createProgress('copying', stream as unknown as NodeJS.WriteStream)
    progress.update(1)
    progress.done()
    expect(written).toEqual([])
  })
})
