export type { CustomIdentity } from './authentication.js'
export type { EventHubOptions } from './event-hub.js'
export {
  type FastifyInstanceLike,
  type FastifyPlugin,
  type FastifyReplyLike,
  type FastifyRequestLike,
  toFastifyPlugin,
} from './fastify.js'
export { type ApiHandler, createHandler, type FetchHandler } from './handler.js'
export type { ListeningServer } from './listen.js'
export { createMetrics, type Metrics } from './metrics.js'
export { type NodeHandler, type NodeRequest, type NodeResponse, toNodeHandler } from './node.js'
export type { HandlerOptions } from './options.js'
export { underPrefix } from './prefix.js'
export { type ApiServer, type ServeOptions, serve } from './serve.js'
