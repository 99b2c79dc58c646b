// Preloaded into a process and its threads: each sync of a file adds one byte to the file SYNC_LOG, and fails once the
// file SYNC_LOG.broken exists.
const fs = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')

const log = process.env.SYNC_LOG
for (const name of ['fsyncSync', 'fdatasyncSync']) {
  const sync = fs[name]
  fs[name] = (descriptor) => {
    if (fs.existsSync(`${log}.broken`)) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
    sync(descriptor)
    fs.appendFileSync(log, '.')
  }
}
syncBuiltinESMExports()
