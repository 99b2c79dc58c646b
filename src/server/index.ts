export {
  type FastifyInstanceLike,
  type FastifyPlugin,
  type FastifyReplyLike,
  type FastifyRequestLike,
  toFastifyPlugin,
} from './fastify.js'
export { createHandler, type FetchHandler } from './handler.js'
export { type NodeHandler, type NodeRequest, type NodeResponse, toNodeHandler } from './node.js'
export { underPrefix } from './prefix.js'
