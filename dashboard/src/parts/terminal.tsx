import type { ReactNode } from 'react'
import { CopyCommand } from './copy-command.tsx'

interface TerminalProps {
  command: string
  curl: string
  /** What whoever copies them must know. */
  children?: ReactNode
}

/** The same from a terminal: by the command line, and by curl. */
export function Terminal({ command, curl, children }: TerminalProps) {
  return (
    <details>
      <summary className="w-fit cursor-pointer text-accent text-xs">From a terminal</summary>
      <div className="mt-1.5 grid grid-cols-[minmax(0,1fr)] gap-2">
        <CopyCommand command={command} />
        <CopyCommand command={curl} />
        {children !== undefined && <p className="text-muted text-xs">{children}</p>}
      </div>
    </details>
  )
}
