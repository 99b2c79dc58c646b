import { basePath, type Schedule } from '../../api/client.ts'
import type { FormState } from './form-state.ts'

/** What was typed and not saved, kept by the tab: a reload, or a step to another page, loses nothing. */
export interface Draft {
  form: FormState
  /** What is edited, as it was read; undefined for a new one. */
  base?: Schedule
}

/** Bumped when the form has other fields: an older draft is none. */
const LAYOUT = 1

const PREFIX = `escapement:draft:${basePath}`
const keyOf = (path: string) => `${PREFIX}${path}`

export function keptDraft(path: string): Draft | undefined {
  try {
    const { layout, ...draft } = JSON.parse(sessionStorage.getItem(keyOf(path)) ?? 'null')
    return layout === LAYOUT ? draft : undefined
  } catch {
    return undefined
  }
}

/** Undefined forgets it. A browser that keeps nothing is no reason to fail. */
export function keepDraft(path: string, draft: Draft | undefined): void {
  try {
    if (draft === undefined) sessionStorage.removeItem(keyOf(path))
    else sessionStorage.setItem(keyOf(path), JSON.stringify({ layout: LAYOUT, ...draft }))
  } catch {}
}

/** Whoever logs in next in this tab is somebody else. */
export function forgetDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
  } catch {}
}
