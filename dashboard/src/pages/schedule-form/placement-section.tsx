import { Fold } from './fold.tsx'
import type { FormProps } from './form-props.ts'
import { TextField } from './text-field.tsx'

const FIELDS = ['queue', 'priority', 'scopes', 'metadata']

/** Where its runs go, and what else is kept with it. */
export function PlacementSection({ form, change, mistakeAt }: FormProps) {
  const isWrong = FIELDS.some((field) => mistakeAt(field) !== undefined)
  return (
    <Fold title="Queue, scopes and metadata" summary={summaryOf(form)} isWrong={isWrong}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Queue"
          value={form.queue}
          onChange={(queue) => change({ queue })}
          mistake={mistakeAt('queue')}
          placeholder="default"
          help="Workers take runs from the queues that they are given."
        />
        <TextField
          label="Priority"
          value={form.priority}
          onChange={(priority) => change({ priority })}
          mistake={mistakeAt('priority')}
          placeholder="0"
          help="A higher one runs first within its queue."
        />
        <TextField
          label="Scopes"
          value={form.scopes}
          onChange={(scopes) => change({ scopes })}
          mistake={mistakeAt('scopes')}
          rows={3}
          placeholder="global"
          help="One in a line: each plan time gives a run for each. Empty: what the job gives, or one."
        />
        <TextField
          label="Metadata as JSON"
          value={form.metadata}
          onChange={(metadata) => change({ metadata })}
          mistake={mistakeAt('metadata')}
          isCode
          rows={3}
          placeholder={'{ "owner": "ann" }'}
          help="An object of yours, kept with the schedule."
        />
      </div>
    </Fold>
  )
}

function summaryOf({ queue, priority, scopes, metadata }: FormProps['form']): string {
  const names = scopes.split('\n').filter((line) => line.trim() !== '')
  const words = [
    queue.trim() !== '' && `Queue ${queue.trim()}`,
    priority.trim() !== '' && `priority ${priority.trim()}`,
    names.length > 1
      ? `${names.length} scopes`
      : names.length === 1 && names[0] !== 'global' && `scope ${names[0]}`,
    metadata.trim() !== '' && 'metadata',
  ].filter((word) => word !== false)
  return words.length === 0 ? 'All as by default.' : `${words.join(', ')}.`
}
