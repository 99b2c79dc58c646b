import { useId } from 'react'
import { inputStyle } from './field.tsx'

export interface ChosenFilterProps {
  label: string
  choices: readonly string[]
  /** Empty where any will do. */
  value: string
  onChange: (value: string) => void
  className?: string
}

/** One of a few words, or any. */
export function ChosenFilter({ label, choices, value, onChange, className = '' }: ChosenFilterProps) {
  const id = useId()
  return (
    <div className={`grid min-w-0 gap-1 ${className}`}>
      <label htmlFor={id} className="text-muted text-xs">
        {label}
      </label>
      <select id={id} className={inputStyle} value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">Any</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice[0]!.toUpperCase() + choice.slice(1)}
          </option>
        ))}
      </select>
    </div>
  )
}
