import { expect, it } from 'vitest'
import { createDeafness } from './deafness.js'

function message(type: string, text: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + text.length)
  return Buffer.concat([Buffer.from(type), length, Buffer.from(text)])
}

it('leaves out notifications and nothing else, however what is said is cut into pieces', () => {
  const said = [
    message('Z', 'I'),
    message('A', 'a notification'),
    message('D', 'a row with an A in it'),
    message('A', ''),
  ]
  const all = Buffer.concat(said)
  for (let size = 1; size <= all.length; size++) {
    const pass = createDeafness()
    const heard: Buffer[] = []
    for (let from = 0; from < all.length; from += size)
      heard.push(pass(all.subarray(from, from + size), true))
    expect(Buffer.concat(heard)).toEqual(Buffer.concat([said[0]!, said[2]!]))
  }
  expect(createDeafness()(all, false)).toEqual(all)
})
