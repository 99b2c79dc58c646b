import type { ReactNode } from 'react'
import { useTitle } from './use-title.ts'

/** A view: its title, what can be done there, and what it shows. */
export function Page({
  title,
  actions,
  children,
}: {
  title: string
  actions?: ReactNode
  children: ReactNode
}) {
  useTitle(title)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div className="flex min-h-8 flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h1 className="min-w-0 font-semibold text-xl tracking-tight [overflow-wrap:anywhere]">{title}</h1>
        {actions}
      </div>
      {children}
    </div>
  )
}
