import { useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import { inputStyle } from './field.tsx'

const PAUSE_MS = 250

export interface TypedFilterProps {
  label: string
  placeholder?: string
  /** A moment is typed as it is on the wall here. */
  type?: 'search' | 'datetime-local'
  value: string
  onChange: (value: string) => void
  className?: string
}

/** A text that counts when whoever types it pauses. */
export function TypedFilter({
  label,
  placeholder,
  type = 'search',
  value,
  onChange,
  className = '',
}: TypedFilterProps) {
  const id = useId()
  const [typed, setTyped] = useState(value)
  const known = useRef(value)

  // The address may change by other ways: a link, or the way back.
  useEffect(() => {
    if (known.current === value) return
    known.current = value
    setTyped(value)
  }, [value])

  const change = useEffectEvent(onChange)
  useEffect(() => {
    const wanted = typed.trim()
    if (wanted === known.current) return
    const timer = setTimeout(() => {
      known.current = wanted
      change(wanted)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])

  return (
    <div className={`grid min-w-0 gap-1 ${className}`}>
      <label htmlFor={id} className="text-muted text-xs">
        {label}
      </label>
      <input
        id={id}
        type={type}
        className={inputStyle}
        placeholder={placeholder}
        {...(type === 'search' ? { maxLength: 200 } : { max: '9999-12-31T23:59' })}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </div>
  )
}
