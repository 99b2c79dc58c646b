import { afterAll, vi } from 'vitest'
import { removePosts } from './posts.js'

// Files share modules, the process and its clock: what one has put in their place, the next would find.
afterAll(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await removePosts()
})
