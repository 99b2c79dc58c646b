import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Body } from '../../../../src/http-client/index.js'
import { client } from '../../api/client.ts'
import { useMay } from '../../api/may.ts'
import { Button, buttonStyle } from '../../parts/button.tsx'
import { Page } from '../../parts/page.tsx'
import { schedulePath } from '../../schedules/schedule-path.ts'
import { AdminNeeded } from './admin-needed.tsx'
import { Check } from './choices.tsx'
import { CopyAs } from './copy-as.tsx'
import { keepDraft, keptDraft } from './draft.ts'
import { focusFirstMistake } from './first-mistake.ts'
import { newForm } from './form-state.ts'
import { KeptNotice } from './kept-notice.tsx'
import { Refused } from './refused.tsx'
import { ScheduleForm } from './schedule-form.tsx'
import { useScheduleForm } from './use-schedule-form.ts'
import { HERE } from './zone-field.tsx'

const PATH = '/new-schedule'

export function NewSchedulePage() {
  const mayPut = useMay('admin')
  return <Page title="New schedule">{mayPut ? <Create /> : <AdminNeeded verb="make" />}</Page>
}

function Create() {
  const [kept, setKept] = useState(() => keptDraft(PATH))
  const typed = useScheduleForm(kept?.form ?? newForm(HERE))
  const { form, change, reading } = typed
  const [, navigate] = useLocation()
  const queryClient = useQueryClient()
  const name = form.name.trim()
  const blank = JSON.stringify(newForm(HERE))
  useEffect(() => keepDraft(PATH, JSON.stringify(form) === blank ? undefined : { form }), [form, blank])

  const create = useMutation({
    // 0: one that exists is not replaced.
    mutationFn: () =>
      client.schedules.put(name, reading.definition as Body<'putSchedule'>, { expectedVersion: 0 }),
    onMutate: () => typed.refuse(null),
    onError(error) {
      typed.refuse(error)
      focusFirstMistake()
    },
    onSuccess() {
      keepDraft(PATH, undefined)
      navigate(schedulePath(name))
      return queryClient.invalidateQueries({ queryKey: ['schedules'] })
    },
  })
  const submit = () => {
    typed.ask()
    if (typed.isSendable) create.mutate()
    else focusFirstMistake()
  }
  const drop = () => {
    setKept(undefined)
    typed.setForm(newForm(HERE))
  }
  return (
    <>
      {kept && <KeptNotice onDrop={drop} />}
      <ScheduleForm typed={typed} isNew onSubmit={submit}>
        {name !== '' && form.job.trim() !== '' && <CopyAs name={name} fields={reading.definition} />}
        <Refused error={typed.refused} what="Not created:" />
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-3">
          <Check
            label="Make it paused"
            help="Nothing runs until somebody resumes it."
            isChecked={form.paused}
            onChange={(paused) => change({ paused })}
          />
          <div className="ml-auto flex flex-wrap justify-end gap-2">
            <Link href="/schedules" className={buttonStyle()}>
              Leave it
            </Link>
            <Button kind="main" type="submit" disabled={create.isPending}>
              Create the schedule
            </Button>
          </div>
        </div>
      </ScheduleForm>
    </>
  )
}
