import path from 'node:path'

// It lies beside this one where both are put together.
const { default: example } = await import(new URL('example.config.js', import.meta.url).href)

export default {
  ...example,
  // Routes do not see it: it is no part of the prefix that they are told of.
  basePath: '/app',
  // Only here: its packages are linked from elsewhere.
  turbopack: { root: path.parse(import.meta.dirname).root },
  logging: false,
}
