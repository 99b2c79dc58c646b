import type { FormState } from './form-state.ts'

/** What each part of the form is given. */
export interface FormProps {
  form: FormState
  change: (part: Partial<FormState>) => void
  /** What is wrong with a field. One that is only still empty is wrong when it is to be saved, and not before. */
  mistakeAt: (field: string, typed?: string) => string | undefined
}
