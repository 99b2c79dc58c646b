/** How inputs and selects look. */
export const inputStyle =
  'h-8 w-full min-w-0 rounded-md border border-edge bg-surface px-2.5 text-ink placeholder:text-muted focus-visible:outline-offset-0'
