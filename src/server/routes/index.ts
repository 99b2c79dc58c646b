import type { EventHub } from '../event-hub.js'
import type { Route } from '../route.js'
import { createEventRoutes, EVENT_SPECS } from './events.js'
import { FORECAST_SPECS, forecastRoutes } from './forecast.js'
import { MOVE_SPECS, moveRoutes } from './moves.js'
import { OVERVIEW_SPECS, overviewRoutes } from './overview.js'
import { RUN_SPECS, runRoutes } from './runs.js'
import { SCHEDULE_SPECS, scheduleRoutes } from './schedules.js'
import { SESSION_SPECS, sessionRoutes } from './session.js'
import { SYSTEM_SPECS, systemRoutes } from './system.js'
import { TOKEN_SPECS, tokenRoutes } from './tokens.js'
import { TRANSITION_SPECS, transitionRoutes } from './transitions.js'
import { VERB_SPECS, verbRoutes } from './verbs.js'

/** What each operation takes and answers, by its name. */
export const SPECS = {
  ...SCHEDULE_SPECS,
  ...VERB_SPECS,
  ...RUN_SPECS,
  ...OVERVIEW_SPECS,
  ...FORECAST_SPECS,
  ...SYSTEM_SPECS,
  ...TRANSITION_SPECS,
  ...TOKEN_SPECS,
  ...SESSION_SPECS,
  ...EVENT_SPECS,
  ...MOVE_SPECS,
}

export type Specs = typeof SPECS

export function createRoutes(hub: EventHub): Record<string, Route> {
  return {
    ...scheduleRoutes,
    ...verbRoutes,
    ...runRoutes,
    ...overviewRoutes,
    ...forecastRoutes,
    ...systemRoutes,
    ...transitionRoutes,
    ...tokenRoutes,
    ...sessionRoutes,
    ...createEventRoutes(hub),
    ...moveRoutes,
  }
}
