import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import type { Job } from '../../api/client.ts'
import { useSeesAll } from '../../api/may.ts'
import { jobsQuery } from '../../api/queries.ts'
import { Card } from '../../parts/card.tsx'
import type { FormProps } from './form-props.ts'
import { TextField } from './text-field.tsx'

/** What it is called, and what it runs. */
export function BasicsSection({ form, change, mistakeAt, isNew }: FormProps & { isNew: boolean }) {
  const list = useId()
  const seesAll = useSeesAll()
  const { data } = useQuery({ ...jobsQuery, enabled: seesAll })
  return (
    <Card title="What it runs">
      <div className="grid gap-4 p-4 sm:grid-cols-2">
        {isNew && (
          <TextField
            label="Name"
            value={form.name}
            onChange={(name) => change({ name })}
            mistake={mistakeAt('name', form.name)}
            placeholder="report:acme"
            help="Letters, digits and . _ : -"
          />
        )}
        <div className="min-w-0">
          <TextField
            label="Job"
            value={form.job}
            onChange={(job) => change({ job })}
            mistake={mistakeAt('job', form.job)}
            list={list}
            placeholder="send-report"
            help={data ? standingOf(form.job.trim(), data.jobs) : 'The name of a handler in your code.'}
          />
          <datalist id={list}>
            {data?.jobs.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </div>
        <TextField
          label="Group"
          value={form.group}
          onChange={(group) => change({ group })}
          mistake={mistakeAt('group')}
          help="Schedules of a group are found, and paused, together."
        />
        <TextField
          label="Description"
          value={form.description}
          onChange={(description) => change({ description })}
          mistake={mistakeAt('description')}
          help="For people."
          className={isNew ? '' : 'sm:col-span-2'}
        />
      </div>
    </Card>
  )
}

/** Who could run it. */
function standingOf(name: string, jobs: readonly Job[]) {
  if (name === '') return 'The name of a handler in your code.'
  const job = jobs.find((each) => each.name === name)
  if (job === undefined) {
    return (
      <span className="text-warn">
        No worker has told of a job of that name, so the server will not know it.
      </span>
    )
  }
  const living = job.workers.filter(({ isAlive }) => isAlive).length
  if (living === 0)
    return <span className="text-warn">No living worker has it: its runs wait until one does.</span>
  return living === 1 ? 'One living worker has it.' : `${living} living workers have it.`
}
