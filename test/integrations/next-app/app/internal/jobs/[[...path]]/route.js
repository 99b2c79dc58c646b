import { createHandler } from 'escapement/server'
import { openEscapement } from '../../../../escapement.js'

let opened

async function handler(request) {
  opened ??= openEscapement().then((escapement) => createHandler(escapement, { prefix: '/internal/jobs' }))
  return (await opened)(request)
}

export {
  handler as DELETE,
  handler as GET,
  handler as HEAD,
  handler as PATCH,
  handler as POST,
  handler as PUT,
}
