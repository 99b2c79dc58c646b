import type { ReactNode } from 'react'
import { CopyCommand } from './copy-command.tsx'

/** Says why there is nothing, and what to do. */
export function Empty({
  title,
  command,
  children,
}: {
  title: string
  command?: string
  children?: ReactNode
}) {
  return (
    <div className="mx-auto grid max-w-xl gap-3 px-4 py-10 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="text-muted">{children}</div>}
      {command !== undefined && <CopyCommand command={command} />}
    </div>
  )
}
