import { inputStyle } from './field.tsx'
import { Labelled } from './labelled.tsx'

export interface ReasonFieldProps {
  value: string
  onChange: (reason: string) => void
  placeholder: string
}

/** Why, for whoever finds it at night. */
export function ReasonField({ value, onChange, placeholder }: ReasonFieldProps) {
  return (
    <Labelled label="Reason">
      {(ids) => (
        <input
          {...ids}
          className={inputStyle}
          value={value}
          maxLength={1000}
          placeholder={placeholder}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Labelled>
  )
}
