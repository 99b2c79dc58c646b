import { ChosenFilter } from '../../parts/chosen-filter.tsx'
import { TypedFilter } from '../../parts/typed-filter.tsx'
import { type Filter, type FilterChange, STATES } from './use-filter.ts'

/** By words, state, group and job; the server does the search. */
export function Filters({ filter, onChange }: { filter: Filter; onChange: (change: FilterChange) => void }) {
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
        <ChosenFilter
          label="State"
          choices={STATES}
          value={filter.state ?? ''}
          onChange={(state) => onChange({ state })}
          className="col-span-2 md:col-span-1"
        />
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
