import type { ComponentType } from 'react'
import { OverviewPage } from './overview/overview-page.tsx'
import { SchedulesPage } from './schedules/schedules-page.tsx'

export interface PageEntry {
  path: string
  page: ComponentType
  /** In the navigation; a page without one is reached from another. */
  title?: string
}

/** All views, in the order of the navigation. The server knows the first part of each path (`VIEWS`). */
export const PAGES: readonly PageEntry[] = [
  { path: '/', page: OverviewPage, title: 'Overview' },
  { path: '/schedules', page: SchedulesPage, title: 'Schedules' },
]
