import { createHandler, underPrefix } from 'escapement/server'
import { openEscapement } from '../../../../escapement.js'

const handler = underPrefix(async (request) => {
  const escapement = await openEscapement()
  return createHandler(escapement, console)(request)
}, '/internal/jobs')

export {
  handler as DELETE,
  handler as GET,
  handler as HEAD,
  handler as PATCH,
  handler as POST,
  handler as PUT,
}
