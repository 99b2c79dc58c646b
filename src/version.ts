import { createRequire } from 'node:module'

/** From package.json, which lies one folder above this file both in the sources and in the package. */
export const VERSION: string = createRequire(import.meta.url)('../package.json').version
