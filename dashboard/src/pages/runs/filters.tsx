import { useSeesAll } from '../../api/may.ts'
import { ChosenFilter } from '../../parts/chosen-filter.tsx'
import { SeveralFilter } from '../../parts/several-filter.tsx'
import { TypedFilter } from '../../parts/typed-filter.tsx'
import { fromWall, onWall } from '../../time/wall.ts'
import { type Filter, isByEnd, STATES, statesOf, TRIGGERS } from './filter-words.ts'

/** All of them by the server. Times are typed in the browser's zone, and are instants in the address. */
export function Filters({ filter, onChange }: { filter: Filter; onChange: (change: Filter) => void }) {
  const time = isByEnd(filter, useSeesAll()) ? 'Ended' : 'Planned'
  return (
    <search>
      <form className="grid grid-cols-2 gap-2 md:grid-cols-4" onSubmit={(event) => event.preventDefault()}>
        <SeveralFilter
          label="State"
          choices={STATES}
          values={statesOf(filter)}
          onChange={(states) => onChange({ state: states.join(',') })}
          className="col-span-full pb-1"
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
        />
        <TypedFilter
          label={`${time} from`}
          type="datetime-local"
          value={onWall(filter.from)}
          onChange={(from) => onChange({ from: fromWall(from) })}
          className="max-xl:col-span-2"
        />
        <TypedFilter
          label={`${time} before`}
          type="datetime-local"
          value={onWall(filter.to)}
          onChange={(to) => onChange({ to: fromWall(to) })}
          className="max-xl:col-span-2"
        />
      </form>
    </search>
  )
}
