import { useId } from 'react'
import { inputStyle } from '../../parts/field.tsx'
import { TypedFilter } from './typed-filter.tsx'
import { type Filter, type FilterChange, STATES } from './use-filter.ts'

/** By words, state, group and job; the server does the search. */
export function Filters({ filter, onChange }: { filter: Filter; onChange: (change: FilterChange) => void }) {
  const id = useId()
  return (
    <search>
      <form
        className="grid grid-cols-2 gap-2 md:grid-cols-[minmax(0,2fr)_repeat(3,minmax(0,1fr))]"
        onSubmit={(event) => event.preventDefault()}
      >
        <TypedFilter
          label="Search"
          placeholder="Words of name, job, group or description"
          value={filter.q ?? ''}
          onChange={(q) => onChange({ q })}
          className="col-span-2 md:col-span-1"
        />
        <div className="col-span-2 grid min-w-0 gap-1 md:col-span-1">
          <label htmlFor={id} className="text-muted text-xs">
            State
          </label>
          <select
            id={id}
            className={inputStyle}
            value={filter.state ?? ''}
            onChange={({ target }) => onChange({ state: target.value })}
          >
            <option value="">Any</option>
            {STATES.map((state) => (
              <option key={state} value={state}>
                {state[0]!.toUpperCase() + state.slice(1)}
              </option>
            ))}
          </select>
        </div>
        <TypedFilter
          label="Group"
          placeholder="Any"
          value={filter.group ?? ''}
          onChange={(group) => onChange({ group })}
        />
        <TypedFilter
          label="Job"
          placeholder="Any"
          value={filter.job ?? ''}
          onChange={(job) => onChange({ job })}
        />
      </form>
    </search>
  )
}
