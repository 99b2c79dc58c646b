import { type ReactNode, useId } from 'react'

export interface LabelledProps {
  label: string
  /** Below it, in plain words. */
  help?: ReactNode
  /** What is wrong with what is in it. */
  mistake?: string | undefined
  className?: string
  /** Makes the control; it must take both. */
  children: (ids: { id: string; 'aria-describedby': string; 'aria-invalid': boolean }) => ReactNode
}

/** A control with its name above it, and below it what helps, and what is wrong. */
export function Labelled({ label, help, mistake, className = '', children }: LabelledProps) {
  const id = useId()
  return (
    <div className={`grid min-w-0 content-start gap-1 ${className}`}>
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({ id, 'aria-describedby': `${id}-help`, 'aria-invalid': mistake !== undefined })}
      <div id={`${id}-help`} className="grid gap-1 text-xs">
        {mistake !== undefined && <span className="text-bad">{mistake}</span>}
        {help !== undefined && <span className="text-muted">{help}</span>}
      </div>
    </div>
  )
}
