import { POLICY_DEFAULTS } from '../../../../src/schedules/policies.js'
import { Check, Choices } from './choices.tsx'
import { Fold } from './fold.tsx'
import type { FormProps } from './form-props.ts'
import { CATCH_UP, OVERLAP, policySummary } from './policy-words.ts'
import type { Reading } from './reading.ts'
import { TextField } from './text-field.tsx'
import { zoneOfForm } from './timing-form.ts'
import { WallField } from './wall-field.tsx'

const FIELDS = [
  ...['startAt', 'endAt', 'limit', 'catchUp', 'catchUpWindow', 'catchUpLimit', 'grace', 'overlap', 'delay'],
  ...['jitter', 'breaker', 'breaker.failures', 'breaker.cooldown', 'deleteWhenDone'],
]

/** How it treats its plan times. */
export function PoliciesSection({ reading, ...props }: FormProps & { reading: Reading }) {
  const { form, change, mistakeAt } = props
  const { timing, catchUp, breaker } = form
  const isWrong = FIELDS.some((field) => mistakeAt(field) !== undefined)
  return (
    <Fold title="Policies" summary={policySummary(form, reading)} isWrong={isWrong}>
      <div className="grid gap-5 md:grid-cols-2">
        {timing.kind === 'after' ? (
          <p className="text-muted">Runs never overlap: each counts from the end of the last.</p>
        ) : (
          <Choices
            legend="While an earlier run is still open"
            choices={OVERLAP}
            value={form.overlap}
            onChange={(overlap) => change({ overlap })}
          />
        )}
        <Choices
          legend="Plan times that were missed, as in an outage"
          choices={CATCH_UP}
          value={catchUp}
          onChange={(to) => change({ catchUp: to })}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Span
          {...props}
          field="catchUpWindow"
          label="Not older than"
          placeholder={catchUp === 'all' && timing.kind !== 'once' ? '1 day' : 'any age'}
          help="Plan times that were missed longer ago are recorded as expired, and do not run."
        />
        {catchUp === 'all' && (
          <Span
            {...props}
            field="catchUpLimit"
            label="So many in one go"
            placeholder={String(POLICY_DEFAULTS.catchUpLimit)}
            help="The rest follow at once after them."
          />
        )}
        <Span
          {...props}
          field="grace"
          label="Grace"
          placeholder={POLICY_DEFAULTS.grace}
          help="What is less late than this counts as on time, and runs in any case."
        />
        <Span
          {...props}
          field="delay"
          label="Delay"
          placeholder={POLICY_DEFAULTS.delay}
          help="Runs begin this long after their plan time: for data that come late."
        />
        <Span
          {...props}
          field="jitter"
          label="Jitter"
          placeholder={POLICY_DEFAULTS.jitter}
          help="Runs are spread over this span, so that not all schedules begin at once."
        />
      </div>
      <div className="grid gap-3">
        <Check
          label="Take it out when it fails again and again"
          help="The breaker: so many failures of scheduled runs in a row, and it is broken until somebody resumes it."
          isChecked={breaker.isOn}
          onChange={(isOn) => change({ breaker: { ...breaker, isOn } })}
        />
        {breaker.isOn && (
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label="Failures in a row"
              value={breaker.failures}
              onChange={(failures) => change({ breaker: { ...breaker, failures } })}
              mistake={mistakeAt('breaker.failures', breaker.failures)}
            />
            <TextField
              label="Cooldown"
              value={breaker.cooldown}
              onChange={(cooldown) => change({ breaker: { ...breaker, cooldown } })}
              mistake={mistakeAt('breaker.cooldown', breaker.cooldown)}
              placeholder="none"
              help="It is tried again after this long; the next failure takes it out again."
            />
          </div>
        )}
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <WallField
          label="Begins"
          value={form.startAt}
          onChange={(startAt) => change({ startAt })}
          zone={zoneOfForm(timing)}
          mistake={mistakeAt('startAt')}
          help="No plan time is before it. Empty: when it is made."
        />
        <WallField
          label="Ends"
          value={form.endAt}
          onChange={(endAt) => change({ endAt })}
          zone={zoneOfForm(timing)}
          mistake={mistakeAt('endAt')}
          help="No plan time is then or later. Empty: never."
        />
        <Span
          {...props}
          field="limit"
          label="At most so many plan times"
          placeholder="any number"
          help="Counted from its beginning, whatever becomes of them."
        />
        <div className="self-center">
          <Check
            label="Delete it when it is done"
            help="When no plan time is left. Its runs stay."
            isChecked={form.deleteWhenDone}
            onChange={(deleteWhenDone) => change({ deleteWhenDone })}
          />
        </div>
      </div>
    </Fold>
  )
}

interface SpanProps extends FormProps {
  field: 'catchUpWindow' | 'catchUpLimit' | 'grace' | 'delay' | 'jitter' | 'limit'
  label: string
  placeholder: string
  help: string
}

function Span({ form, change, mistakeAt, field, ...rest }: SpanProps) {
  return (
    <TextField
      {...rest}
      value={form[field]}
      onChange={(value) => change({ [field]: value })}
      mistake={mistakeAt(field, form[field])}
    />
  )
}
