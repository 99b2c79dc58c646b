import { Button } from '../../parts/button.tsx'

/** What was typed before is there again. */
export function KeptNotice({ onDrop }: { onDrop: () => void }) {
  return (
    <div
      role="status"
      className="flex flex-wrap items-center justify-between gap-2 rounded-md border border-line bg-surface px-3 py-2"
    >
      <span>Here is what you had typed before and not saved.</span>
      <Button onClick={onDrop}>Begin anew</Button>
    </div>
  )
}
