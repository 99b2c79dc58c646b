import { type ReactNode, useId } from 'react'

export interface CardProps {
  title: string
  /** Beside the title. */
  aside?: ReactNode
  className?: string
  children: ReactNode
}

/** A part of a page that has a title of its own. */
export function Card({ title, aside, className = '', children }: CardProps) {
  const id = useId()
  return (
    <section
      aria-labelledby={id}
      className={`min-w-0 overflow-hidden rounded-lg border border-line bg-surface ${className}`}
    >
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1 border-line border-b px-4 py-2.5">
        <h2 id={id} className="font-semibold">
          {title}
        </h2>
        {aside !== undefined && <div className="text-muted text-xs">{aside}</div>}
      </div>
      {children}
    </section>
  )
}
