import { useState } from 'react'
import type { FormProps } from './form-props.ts'
import { Tabs } from './tabs.tsx'
import { TextField } from './text-field.tsx'
import { zoneOfForm } from './timing-form.ts'
import { WallField } from './wall-field.tsx'

const PRESETS = ['1 hour', '3 hours', '6 hours', '12 hours', '24 hours'] as const
type Preset = (typeof PRESETS)[number] | 'off' | 'free'

/** A fixed grid. Off is no interval: what is made so is made paused, and what exists is paused by a verb of its own. */
export function IntervalFields({ form, change, mistakeAt, isNew }: FormProps & { isNew: boolean }) {
  const { timing, paused } = form
  const [isFree, setFree] = useState(false)
  const preset = PRESETS.find((each) => each === timing.every)
  const chosen: Preset = paused ? 'off' : isFree ? 'free' : (preset ?? 'free')
  const choose = (choice: Preset) => {
    setFree(choice === 'free')
    if (choice === 'off') change({ paused: true })
    else if (choice === 'free') change({ paused: false })
    else change({ paused: false, timing: { ...timing, every: choice } })
  }
  return (
    <>
      <div className="grid gap-1">
        <Tabs<Preset>
          legend="Every"
          choices={[
            ...(isNew ? ([['off', 'Off']] as const) : []),
            ...PRESETS.map((each) => [each, each] as const),
            ['free', 'Another'],
          ]}
          value={chosen}
          onChange={choose}
        />
        {paused && (
          <p className="text-warn text-xs">
            It is made paused: nothing runs until somebody resumes it, and then it runs every {timing.every}.
          </p>
        )}
        {!isNew && (
          <p className="text-muted text-xs">
            To switch it off, pause it on its page: that keeps what is here.
          </p>
        )}
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        {chosen === 'free' && (
          <TextField
            label="How often"
            value={timing.every}
            onChange={(every) => change({ timing: { ...timing, every } })}
            mistake={mistakeAt('timing.every', timing.every)}
            placeholder="15 minutes"
            help="A number with its unit, such as 90s, 15 minutes or 2 weeks, or as in ISO 8601: PT1H30M."
          />
        )}
        <WallField
          label="Counted from"
          value={timing.anchor}
          onChange={(anchor) => change({ timing: { ...timing, anchor } })}
          zone={zoneOfForm(timing)}
          mistake={mistakeAt('timing.anchor', timing.anchor)}
          help="Empty: from Monday, 1 January 2001 at 00:00, so that 15 minutes are at 0, 15, 30 and 45."
        />
      </div>
    </>
  )
}
