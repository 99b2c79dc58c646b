import { type ComponentType, lazy } from 'react'
import { AuditPage } from './audit/audit-page.tsx'
import { OverviewPage } from './overview/overview-page.tsx'
import { RunPage } from './run/run-page.tsx'
import { RunsPage } from './runs/runs-page.tsx'
import { SchedulesPage } from './schedules/schedules-page.tsx'
import { TransitionsPage } from './transitions/transitions-page.tsx'
import { WorkersPage } from './workers/workers-page.tsx'

export interface PageEntry {
  path: string
  page: ComponentType
  /** In the navigation; a page without one is reached from another. */
  title?: string
  /** What it shows is of all groups, and not for a token of one. */
  isOfAll?: true
  /** It is for admins, and for others not in the navigation. */
  isForAdmins?: true
}

const CalendarPage = lazy(() =>
  import('./calendar/calendar-page.tsx').then(({ CalendarPage: page }) => ({ default: page })),
)
const TokensPage = lazy(() =>
  import('./tokens/tokens-page.tsx').then(({ TokensPage: page }) => ({ default: page })),
)

/** All views, in the order of the navigation. The server knows the first part of each path (`VIEWS`). */
export const PAGES: readonly PageEntry[] = [
  { path: '/', page: OverviewPage, title: 'Overview' },
  { path: '/schedules', page: SchedulesPage, title: 'Schedules' },
  {
    path: '/schedules/:name',
    page: lazy(() =>
      import('./schedule/schedule-page.tsx').then(({ SchedulePage: page }) => ({ default: page })),
    ),
  },
  {
    path: '/schedules/:name/edit',
    page: lazy(() =>
      import('./schedule-form/edit-schedule-page.tsx').then(({ EditSchedulePage: page }) => ({
        default: page,
      })),
    ),
  },
  {
    path: '/new-schedule',
    page: lazy(() =>
      import('./schedule-form/new-schedule-page.tsx').then(({ NewSchedulePage: page }) => ({
        default: page,
      })),
    ),
  },
  { path: '/runs', page: RunsPage, title: 'Runs' },
  { path: '/runs/:id', page: RunPage },
  { path: '/calendar', page: CalendarPage, title: 'Calendar' },
  { path: '/transitions', page: TransitionsPage, title: 'Transitions', isOfAll: true },
  { path: '/workers', page: WorkersPage, title: 'Workers', isOfAll: true },
  { path: '/audit', page: AuditPage, title: 'Audit', isOfAll: true },
  { path: '/tokens', page: TokensPage, title: 'Tokens', isOfAll: true, isForAdmins: true },
]
