import { inputStyle } from '../../parts/field.tsx'
import { Labelled } from '../../parts/labelled.tsx'

export interface SelectFieldProps<Value extends string> {
  label: string
  help?: string
  choices: readonly (readonly [Value, string])[]
  value: Value
  onChange: (value: Value) => void
  /** No wider than its longest choice. */
  isNarrow?: boolean
}

/** One of a list. */
export function SelectField<Value extends string>({
  label,
  help,
  choices,
  value,
  onChange,
  isNarrow = false,
}: SelectFieldProps<Value>) {
  // A rule may name one that is not in the list.
  const shown = choices.some(([choice]) => choice === value) ? choices : [[value, value] as const, ...choices]
  return (
    <Labelled label={label} help={help}>
      {(ids) => (
        <select
          {...ids}
          className={isNarrow ? `${inputStyle} w-auto!` : inputStyle}
          value={value}
          onChange={({ target }) => onChange(target.value as Value)}
        >
          {shown.map(([choice, words]) => (
            <option key={choice} value={choice}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}
