import { type ReactNode, useEffect, useState } from 'react'

export interface FoldProps {
  title: string
  /** Beside the title: what is in it, in a few words. */
  summary: string
  /** Something in it is wrong: it opens. */
  isWrong: boolean
  children: ReactNode
}

/** A part of the form that most people leave as it is. */
export function Fold({ title, summary, isWrong, children }: FoldProps) {
  const [isOpen, setOpen] = useState(isWrong)
  useEffect(() => {
    if (isWrong) setOpen(true)
  }, [isWrong])
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="min-w-0 rounded-lg border border-line bg-surface"
    >
      <summary className="cursor-pointer rounded-lg px-4 py-2.5 hover:bg-raised">
        <h2 className="inline font-semibold">{title}</h2>{' '}
        <span className={isWrong ? 'text-bad' : 'text-muted'}>
          {isWrong ? 'Something in here is wrong.' : summary}
        </span>
      </summary>
      <div className="grid gap-5 border-line border-t p-4">{children}</div>
    </details>
  )
}
