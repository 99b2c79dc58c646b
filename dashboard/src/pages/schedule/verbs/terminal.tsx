import { CopyCommand } from '../../../parts/copy-command.tsx'

/** The same from a terminal: by the command line, and by curl. */
export function Terminal({ command, curl }: { command: string; curl: string }) {
  return (
    <details>
      <summary className="w-fit cursor-pointer text-accent text-xs">From a terminal</summary>
      <div className="mt-1.5 grid grid-cols-[minmax(0,1fr)] gap-2">
        <CopyCommand command={command} />
        <CopyCommand command={curl} />
      </div>
    </details>
  )
}
