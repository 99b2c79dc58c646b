import type { ReactNode } from 'react'
import { BasicsSection } from './basics-section.tsx'
import { InputSection } from './input-section.tsx'
import { PlacementSection } from './placement-section.tsx'
import { PoliciesSection } from './policies-section.tsx'
import { PreviewCard } from './preview-card.tsx'
import { TimingSection } from './timing-section.tsx'
import type { TypedForm } from './use-schedule-form.ts'

export interface ScheduleFormProps {
  typed: TypedForm
  isNew: boolean
  createdAt?: string
  onSubmit: () => void
  /** Below the fields: how it is saved. */
  children: ReactNode
}

/** All fields of a schedule, with its next times beside them where there is room. */
export function ScheduleForm({ typed, isNew, createdAt, onSubmit, children }: ScheduleFormProps) {
  const { form, change, mistakeAt, reading, told } = typed
  const props = { form, change, mistakeAt }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
      className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_24rem] xl:grid-cols-[minmax(0,1fr)_28rem]"
    >
      <BasicsSection {...props} isNew={isNew} />
      <TimingSection {...props} isNew={isNew} reading={reading} />
      <div className="lg:sticky lg:top-4 lg:col-start-2 lg:row-span-6 lg:row-start-1">
        <PreviewCard form={form} reading={reading} createdAt={createdAt} />
      </div>
      <InputSection {...props} reading={reading} told={told} />
      <PoliciesSection {...props} reading={reading} />
      <PlacementSection {...props} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">{children}</div>
    </form>
  )
}
