import { underPrefix } from 'escapement/server'
import { createTransportHandler } from '../../../transport-handler'

const handler = underPrefix(createTransportHandler(), '/escapement')

export {
  handler as DELETE,
  handler as GET,
  handler as HEAD,
  handler as PATCH,
  handler as POST,
  handler as PUT,
}
