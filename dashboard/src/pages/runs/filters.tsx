import { ChosenFilter } from '../../parts/chosen-filter.tsx'
import { TypedFilter } from '../../parts/typed-filter.tsx'
import { fromWall, onWall } from '../../time/wall.ts'
import { type Filter, STATES, TRIGGERS } from './use-filter.ts'

/** All of them by the server. Times are typed in the browser's zone, and are instants in the address. */
export function Filters({ filter, onChange }: { filter: Filter; onChange: (change: Filter) => void }) {
  return (
    <search>
      <form className="grid grid-cols-2 gap-2 md:grid-cols-4" onSubmit={(event) => event.preventDefault()}>
        <ChosenFilter
          label="State"
          choices={STATES}
          value={filter.state ?? ''}
          onChange={(state) => onChange({ state })}
        />
        <ChosenFilter
          label="Trigger"
          choices={TRIGGERS}
          value={filter.trigger ?? ''}
          onChange={(trigger) => onChange({ trigger })}
        />
        <TypedFilter
          label="Job"
          placeholder="Any"
          value={filter.job ?? ''}
          onChange={(job) => onChange({ job })}
        />
        <TypedFilter
          label="Queue"
          placeholder="Any"
          value={filter.queue ?? ''}
          onChange={(queue) => onChange({ queue })}
        />
        <TypedFilter
          label="Schedule"
          placeholder="Any"
          value={filter.schedule ?? ''}
          onChange={(schedule) => onChange({ schedule })}
          className="col-span-2 md:max-xl:col-span-4"
        />
        <TypedFilter
          label="Planned from"
          type="datetime-local"
          value={onWall(filter.from)}
          onChange={(from) => onChange({ from: fromWall(from) })}
          className="max-xl:col-span-2"
        />
        <TypedFilter
          label="Planned before"
          type="datetime-local"
          value={onWall(filter.to)}
          onChange={(to) => onChange({ to: fromWall(to) })}
          className="max-xl:col-span-2"
        />
      </form>
    </search>
  )
}
