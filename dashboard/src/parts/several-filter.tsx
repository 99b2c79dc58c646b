export interface SeveralFilterProps {
  label: string
  choices: readonly string[]
  /** None of them where any will do. */
  values: readonly string[]
  onChange: (values: string[]) => void
  className?: string
}

/** Some of a few words, or any. */
export function SeveralFilter({ label, choices, values, onChange, className = '' }: SeveralFilterProps) {
  const toggle = (choice: string) =>
    onChange(choices.filter((each) => values.includes(each) !== (each === choice)))
  return (
    <fieldset className={`flex flex-wrap items-center gap-x-4 gap-y-1.5 ${className}`}>
      <legend className="float-left mr-4 text-muted text-xs leading-5">{label}</legend>
      {choices.map((choice) => (
        <label key={choice} className="flex cursor-pointer items-center gap-1.5">
          <input
            type="checkbox"
            className="accent-accent"
            checked={values.includes(choice)}
            onChange={() => toggle(choice)}
          />
          {choice[0]!.toUpperCase() + choice.slice(1)}
        </label>
      ))}
    </fieldset>
  )
}
