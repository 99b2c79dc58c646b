import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Body } from '../../../../src/http-client/index.js'
import { client, EscapementError, type Schedule } from '../../api/client.ts'
import { useMay } from '../../api/may.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { buttonStyle } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { schedulePath, useScheduleName } from '../../schedules/schedule-path.ts'
import { AdminNeeded } from './admin-needed.tsx'
import { Conflict } from './conflict.tsx'
import { CopyAs } from './copy-as.tsx'
import { DiffView } from './diff-view.tsx'
import { keepDraft, keptDraft } from './draft.ts'
import { focusFirstMistake } from './first-mistake.ts'
import { formOf } from './form-state.ts'
import { KeptNotice } from './kept-notice.tsx'
import { editedQuery } from './queries.ts'
import { patchOf, rebased } from './reading.ts'
import { Refused } from './refused.tsx'
import { ScheduleForm } from './schedule-form.tsx'
import { zoneOfForm } from './timing-form.ts'
import { useScheduleForm } from './use-schedule-form.ts'

export function EditSchedulePage() {
  const name = useScheduleName()
  const mayPatch = useMay('admin')
  const query = useQuery({ ...editedQuery(name), enabled: mayPatch })
  return (
    <Page title={`Edit ${name}`}>
      {mayPatch ? (
        <>
          <div>
            <Link href={schedulePath(name)} className="text-accent underline-offset-2 hover:underline">
              Back to the schedule
            </Link>
          </div>
          <Loaded query={query}>{(schedule) => <Edit key={name} current={schedule} />}</Loaded>
        </>
      ) : (
        <AdminNeeded verb="edit" />
      )}
    </Page>
  )
}

function Edit({ current }: { current: Schedule }) {
  const { name } = current
  const path = schedulePath(name, 'edit')
  const [kept, setKept] = useState(() => keptDraft(path))
  const [base, setBase] = useState(kept?.base ?? current)
  const before = useMemo(() => formOf(base), [base])
  const typed = useScheduleForm(kept?.form ?? before)
  const { form } = typed
  const patch = useMemo(() => patchOf(form, before), [form, before])
  const isChanged = Object.keys(patch).length > 0
  const isBehind = current.version > base.version || current.id !== base.id
  const isTouched = isBehind && Object.keys(patchOf(formOf(current), before)).length > 0
  const [look, setLook] = useState(0)
  const actions = useRef<HTMLDivElement>(null)
  const [, navigate] = useLocation()
  const queryClient = useQueryClient()

  useEffect(() => keepDraft(path, isChanged ? { form, base } : undefined), [path, form, base, isChanged])

  const takeTheirs = () => {
    setBase(current)
    typed.setForm(formOf(current))
    typed.refuse(null)
    setKept(undefined)
  }
  const goOn = () => {
    setBase(current)
    typed.setForm(rebased(form, before, formOf(current)))
    typed.refuse(null)
  }
  // Whoever has changed nothing yet sees what is there now; and a pause changes nothing that is edited here.
  useEffect(() => {
    if (isBehind && (!isChanged || !isTouched)) goOn()
  })

  const save = async () => {
    await client.schedules.patch(name, patch as Body<'patchSchedule'>, { expectedVersion: base.version })
    keepDraft(path, undefined)
    navigate(schedulePath(name))
  }
  const refuse = (error: Error | null) => {
    typed.refuse(error)
    if (error === null) return
    const isBehindNow = error instanceof EscapementError && error.code === 'version_conflict'
    if (isBehindNow) void queryClient.invalidateQueries({ queryKey: ['schedules'] })
    else focusFirstMistake()
  }
  const review = () => actions.current?.querySelector('button')?.click()
  const isConflict = typed.refused instanceof EscapementError && typed.refused.code === 'version_conflict'
  const canSave = isChanged && typed.isSendable && !isTouched
  return (
    <>
      {kept && <KeptNotice onDrop={takeTheirs} />}
      <ScheduleForm typed={typed} isNew={false} createdAt={base.createdAt} onSubmit={review}>
        {isTouched && isChanged && (
          <Conflict base={base} theirs={current} patch={patch} onGoOn={goOn} onTakeTheirs={takeTheirs} />
        )}
        {isChanged && <CopyAs name={name} fields={patch} version={base.version} />}
        {!(isConflict && isTouched) && <Refused error={typed.refused} what="Not saved:" />}
      </ScheduleForm>
      <div ref={actions} className="flex flex-wrap justify-end gap-2">
        <Link href={schedulePath(name)} className={buttonStyle()}>
          Leave it
        </Link>
        <ActionDialog
          opener="Review and save…"
          title="What this changes"
          verb="Save"
          action={save}
          renews={['schedules']}
          onRefused={refuse}
          onOpen={() => {
            typed.ask()
            setLook(look + 1)
          }}
          isDisabled={!canSave}
        >
          {!isChanged && <p className="text-muted">You have changed nothing yet.</p>}
          {isChanged && !typed.isSendable && (
            <p className="text-bad">Something is not right yet: it is told at its field.</p>
          )}
          {isTouched && (
            <p className="text-warn">Say first how to go on with what somebody else has edited.</p>
          )}
          {canSave && look > 0 && (
            <DiffView schedule={base} patch={patch} zone={zoneOfForm(form.timing)} look={look} />
          )}
        </ActionDialog>
      </div>
    </>
  )
}
