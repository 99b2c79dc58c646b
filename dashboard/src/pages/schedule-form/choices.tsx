import { useId } from 'react'

export interface ChoicesProps<Value extends string> {
  legend: string
  /** Each with a sentence that says what happens; the first is the default. */
  choices: readonly (readonly [Value, string, string])[]
  value: Value
  onChange: (value: Value) => void
}

/** One of a few, each with what it does. */
export function Choices<Value extends string>({ legend, choices, value, onChange }: ChoicesProps<Value>) {
  const name = useId()
  return (
    <fieldset className="grid min-w-0 content-start gap-1.5">
      <legend className="mb-1 font-medium">{legend}</legend>
      {choices.map(([choice, label, sentence], index) => (
        <label key={choice} className="flex cursor-pointer items-baseline gap-2">
          <input
            type="radio"
            name={name}
            className="accent-accent"
            checked={value === choice}
            onChange={() => onChange(choice)}
          />
          <span className="min-w-0">
            {label}
            {index === 0 && <span className="text-muted"> (default)</span>}
            <span className="block text-muted text-xs">{sentence}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

export interface CheckProps {
  label: string
  help: string
  isChecked: boolean
  onChange: (isChecked: boolean) => void
}

/** Yes or no, with what yes means. */
export function Check({ label, help, isChecked, onChange }: CheckProps) {
  return (
    <label className="flex cursor-pointer items-baseline gap-2">
      <input
        type="checkbox"
        className="accent-accent"
        checked={isChecked}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span className="min-w-0">
        {label}
        <span className="block text-muted text-xs">{help}</span>
      </span>
    </label>
  )
}
