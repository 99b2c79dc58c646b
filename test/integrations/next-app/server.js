// Runs this folder as an application of Next.js, and tells its parent process where.
import http from 'node:http'
import next from 'next'

const app = next({ dev: true, dir: import.meta.dirname, quiet: true })
await app.prepare()
const server = http.createServer(app.getRequestHandler())
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}/app` }))
