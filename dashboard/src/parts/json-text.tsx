/** A value as JSON that people can read. */
export function JsonText({ label, value }: { label: string; value: unknown }) {
  return <TextBlock label={label} text={JSON.stringify(value, null, 2)} />
}

/** A text whose lines stay as they are; what is too long or too wide scrolls, by keyboard too. */
export function TextBlock({ label, text }: { label: string; text: string }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      className="max-h-96 min-w-0 overflow-auto rounded-md border border-line bg-raised px-3 py-2 font-mono text-xs leading-5"
    >
      <pre className="w-max min-w-full">{text}</pre>
    </section>
  )
}
