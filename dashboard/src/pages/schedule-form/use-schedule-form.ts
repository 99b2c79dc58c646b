import { useMemo, useState } from 'react'
import type { Mistake } from '../../../../src/errors.js'
import type { FormProps } from './form-props.ts'
import type { FormState } from './form-state.ts'
import { type Reading, readForm, rootOf } from './reading.ts'
import { mistakesIn } from './refusal.ts'

export interface TypedForm extends FormProps {
  reading: Reading
  /** Whether nothing is wrong that the page can know of. */
  isSendable: boolean
  refused: Error | null
  /** What the server has said of fields that are still as they were sent. */
  told: readonly Mistake[]
  setForm: (form: FormState) => void
  /** It is to be saved: from now on what is still empty is wrong too. */
  ask: () => void
  refuse: (error: Error | null) => void
}

const NEEDED = 'This is needed.'

/** What is typed, what it says, and what is wrong with it: here, and in what the server has refused. */
export function useScheduleForm(initial: FormState): TypedForm {
  const [form, setForm] = useState(initial)
  const [isAsked, setAsked] = useState(false)
  const [refusal, setRefusal] = useState<{ error: Error; sent: FormState } | null>(null)
  const reading = useMemo(() => readForm(form), [form])
  const told = mistakesIn(refusal?.error ?? null).filter(({ field }) => {
    const root = rootOf(field) as keyof FormState
    return form[root] === refusal?.sent[root]
  })
  return {
    form,
    reading,
    setForm,
    refused: refusal?.error ?? null,
    told,
    // The server may know a zone that is too new for the browser.
    isSendable: reading.mistakes.every(({ field }) => field === 'timing.zone'),
    change: (part) => setForm((old) => ({ ...old, ...part })),
    ask: () => setAsked(true),
    refuse: (error) => setRefusal(error && { error, sent: form }),
    mistakeAt(field, typed = 'something') {
      const isEmpty = typed.trim() === ''
      const own = isEmpty && !isAsked ? [] : reading.mistakes
      const found = [...told, ...own].filter((mistake) => mistake.field === field)
      // What the library says of an empty text is for programs.
      if (isEmpty && found.length > 0) return NEEDED
      return found.length === 0 ? undefined : [...new Set(found.map(({ message }) => message))].join('; ')
    },
  }
}
