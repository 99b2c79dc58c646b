import { useState } from 'react'
import { applyScheme, keepScheme, keptScheme, SCHEMES, type Scheme } from './scheme.ts'

const NAMES: Readonly<Record<Scheme, string>> = { system: 'Auto', light: 'Light', dark: 'Dark' }

/** Light, dark, or as the system says. */
export function SchemeSwitch() {
  const [scheme, setScheme] = useState(keptScheme)
  const choose = (next: Scheme) => {
    setScheme(next)
    keepScheme(next)
    applyScheme(next)
  }
  return (
    <fieldset className="flex rounded-md border border-line bg-surface p-0.5 text-xs">
      <legend className="sr-only">Colours</legend>
      {SCHEMES.map((each) => (
        <label
          key={each}
          className="flex-1 cursor-pointer rounded px-2 py-0.5 text-center text-muted has-checked:bg-raised has-checked:font-medium has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="scheme"
            className="sr-only"
            checked={scheme === each}
            onChange={() => choose(each)}
          />
          {NAMES[each]}
        </label>
      ))}
    </fieldset>
  )
}
