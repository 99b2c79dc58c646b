import { useLive } from '../api/live.tsx'

const WORDS = {
  connecting: ['Connecting', 'text-muted', 'Waiting for the first event stream.'],
  live: ['Live', 'text-good', 'What happens is shown as it happens.'],
  reconnecting: ['Reconnecting', 'text-warn', 'The stream of events broke off; what is shown may be old.'],
} as const

/** Whether what is shown follows what happens. */
export function LiveMark() {
  const [word, colour, help] = WORDS[useLive()]
  return (
    <span role="status" title={help} className={`inline-flex items-center gap-1.5 text-xs ${colour}`}>
      <span aria-hidden="true" className="size-1.5 rounded-full bg-current" />
      {word}
    </span>
  )
}
