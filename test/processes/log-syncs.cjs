// Preloaded into a process and its threads: each sync of a file adds one byte to the file SYNC_LOG. Syncs fail while the
// file SYNC_LOG.broken exists, and writes while SYNC_LOG.full does.
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
const write = fs.writeSync
fs.writeSync = (...args) => {
  // The first three descriptors are the standard streams.
  if (args[0] > 2 && fs.existsSync(`${log}.full`)) {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  }
  return write(...args)
}
syncBuiltinESMExports()
