import type { ChangedValue } from './changed-values.ts'

/** A field, and what it held before and after. */
export function ChangedField({ value: { field, before, after } }: { value: ChangedValue }) {
  return (
    <li className="flex min-w-0 flex-wrap items-baseline gap-x-2 [overflow-wrap:anywhere]">
      <span className="font-medium">{field}</span>
      <Small label="before" value={before} tone="bg-bad-tint text-bad" />
      <Arrow />
      <Small label="after" value={after} tone="bg-good-tint text-good" />
    </li>
  )
}

/** Not every font has one. */
const Arrow = () => (
  <svg aria-hidden="true" viewBox="0 0 16 8" className="h-2 w-4 self-center stroke-muted" fill="none">
    <path d="M0 4h14M10.5 1 14 4l-3.5 3" />
  </svg>
)

const LONGEST = 120

/** In one line; what is longer is cut, and shown whole to whoever opens it. */
function Small({ label, value, tone }: { label: string; value: unknown; tone: string }) {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  const style = `min-w-0 rounded px-1 font-mono [overflow-wrap:anywhere] ${tone}`
  return (
    <>
      <span className="sr-only">{label}</span>
      {text.length <= LONGEST ? (
        <code className={style}>{text}</code>
      ) : (
        <details className={style}>
          <summary className="cursor-pointer">{text.slice(0, LONGEST)}…</summary>
          <pre className="whitespace-pre-wrap">{JSON.stringify(value, null, 2)}</pre>
        </details>
      )}
    </>
  )
}
