import path from 'node:path'

export default {
  // Escapement reads files beside its own code, and starts threads from there: it is not to be bundled.
  serverExternalPackages: ['escapement'],
  // Routes do not see it: it is no part of the prefix that they are told of.
  basePath: '/app',
  // Only here: its packages are linked from elsewhere.
  turbopack: { root: path.parse(import.meta.dirname).root },
  logging: false,
}
