import { cliPage } from './cli.js'
import type { Declarations } from './declarations.js'
import { errorCodesPage } from './error-codes.js'
import { eventsPage } from './events.js'
import { httpApiPage } from './http-api.js'
import { metricsPage } from './metrics.js'
import { optionsPage } from './options.js'

/** The pages that need no database, by their names under docs/reference. */
export function pagesOfCode(declarations: Declarations): Record<string, string> {
  return {
    'options.md': optionsPage(declarations),
    'http-api.md': httpApiPage(),
    'cli.md': cliPage(),
    'events.md': eventsPage(declarations),
    'error-codes.md': errorCodesPage(declarations),
    'metrics.md': metricsPage(),
  }
}
