import { useEffect, useState } from 'react'
import { buttonStyle } from './button.tsx'

/** A command for a terminal, and a button that copies it. */
export function CopyCommand({ command }: { command: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [isCopied])
  // Only a page that came by https, or from this machine, may write to the clipboard.
  const canCopy = navigator.clipboard !== undefined
  return (
    <div className="flex min-w-0 items-stretch gap-2">
      <code className="min-w-0 flex-1 select-all whitespace-pre-wrap break-words rounded-md border border-line bg-raised px-2.5 py-1.5 text-left font-mono text-ink text-xs leading-5">
        {command}
      </code>
      {canCopy && (
        <button
          type="button"
          className={`${buttonStyle()} h-auto! min-h-8`}
          onClick={() => void navigator.clipboard.writeText(command).then(() => setCopied(true))}
        >
          <span aria-live="polite">{isCopied ? 'Copied' : 'Copy'}</span>
        </button>
      )}
    </div>
  )
}
