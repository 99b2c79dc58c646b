import type { AccessRole } from '../client/tokens.js'
import type { Escapement } from '../escapement.js'
import { DOCS_STYLE, docsPage } from './docs-page.js'
import { healthResponse, readinessResponse } from './health.js'
import type { MetricsOnDemand } from './metrics.js'
import type { OpenApiDocument } from './openapi.js'
import { PAGE_POLICY } from './security-headers.js'

/** What is served outside the API. */
export interface Page {
  role: AccessRole | 'anyone'
  /** As of an operation. */
  groups: 'own' | 'refused'
  answer: () => Response | Promise<Response>
}

export interface PageParts {
  escapement: Escapement
  document: OpenApiDocument
  metrics: MetricsOnDemand
}

export function createPages({ escapement, document, metrics }: PageParts): Record<string, Page> {
  const html = docsPage(document)
  return {
    '/health': { role: 'anyone', groups: 'own', answer: () => healthResponse(escapement) },
    '/ready': { role: 'anyone', groups: 'own', answer: () => readinessResponse(escapement) },
    '/metrics': { role: 'viewer', groups: 'refused', answer: metrics.respond },
    '/openapi.json': { role: 'viewer', groups: 'own', answer: () => Response.json(document) },
    '/docs': { role: 'viewer', groups: 'own', answer: () => page(html, 'text/html') },
    '/docs.css': { role: 'viewer', groups: 'own', answer: () => page(DOCS_STYLE, 'text/css') },
  }
}

function page(text: string, type: string): Response {
  return new Response(text, {
    headers: { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': PAGE_POLICY },
  })
}
