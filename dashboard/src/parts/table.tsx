import type { ReactNode } from 'react'

export const headCell =
  'whitespace-nowrap border-b border-line px-3 py-2 text-left text-xs font-medium text-muted first:pl-4 last:pr-4'
export const bodyCell =
  'border-b border-line px-3 py-2 text-left align-top font-normal first:pl-4 last:pr-4 [tr:last-child>&]:border-b-0'
export const numberCell = `${bodyCell} text-right tabular-nums`

/** A table that scrolls by itself where it is wider than its place, by keyboard too. */
export function Table({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section aria-label={label} tabIndex={0} className="overflow-x-auto focus-visible:-outline-offset-2">
      <table className="w-full border-separate border-spacing-0">{children}</table>
    </section>
  )
}
