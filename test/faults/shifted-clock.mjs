// Loaded before the program: its clock is wrong by so much, and jumps when it is told to. What measures durations is left as it is.
const HostDate = Date
let aheadMs = Number(process.env.CLOCK_AHEAD_MS ?? 0)
const now = () => HostDate.now() + aheadMs

globalThis.Date = new Proxy(HostDate, {
  construct: (target, given) => (given.length === 0 ? new target(now()) : new target(...given)),
  get: (target, name) => (name === 'now' ? now : target[name]),
})

process.on('message', (message) => {
  if (typeof message?.clockAheadMs === 'number') aheadMs = message.clockAheadMs
})
