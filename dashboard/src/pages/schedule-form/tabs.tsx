import { useId } from 'react'

export interface TabsProps<Value extends string> {
  /** For screen readers, and shown unless it is hidden. */
  legend: string
  isLegendHidden?: boolean
  choices: readonly (readonly [Value, string])[]
  value: Value
  onChange: (value: Value) => void
}

/** One of a few, side by side; arrows move between them, as they do between radio buttons. */
export function Tabs<Value extends string>({
  legend,
  isLegendHidden = false,
  choices,
  value,
  onChange,
}: TabsProps<Value>) {
  const name = useId()
  return (
    <fieldset className="min-w-0">
      <legend className={isLegendHidden ? 'sr-only' : 'mb-1 font-medium'}>{legend}</legend>
      <div className="flex flex-wrap gap-1.5">
        {choices.map(([choice, label]) => (
          <label
            key={choice}
            className="relative inline-flex h-8 cursor-pointer items-center rounded-md border border-edge bg-surface px-3 hover:bg-raised has-[:checked]:border-accent has-[:checked]:bg-accent has-[:checked]:text-accent-ink has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-accent has-[:focus-visible]:outline-offset-2"
          >
            <input
              type="radio"
              name={name}
              className="absolute inset-0 cursor-pointer opacity-0"
              checked={value === choice}
              onChange={() => onChange(choice)}
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
