/** Leads to the first control that is wrong, when it is drawn. */
export function focusFirstMistake(): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => document.querySelector<HTMLElement>('main [aria-invalid="true"]')?.focus()),
  )
}
