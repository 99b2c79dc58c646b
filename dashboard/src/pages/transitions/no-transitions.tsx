import { Empty } from '../../parts/empty.tsx'

const DECLARE = `await escapement.transitions.declare('posts', {
  fields: { publish_at: set('status', { from: 'draft', to: 'published' }) },
})`

export function NoTransitions() {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <Empty title="The server that answers has declared no transitions.">
        <p>
          A transition changes a row of your own table when the time in one of its columns has come. Declare
          them in escapement.config.ts by their tables, or in your code before it starts:
        </p>
        <pre className="mt-3 whitespace-pre-wrap break-words rounded-md border border-line bg-raised p-3 text-left font-mono text-ink text-xs">
          {DECLARE}
        </pre>
      </Empty>
    </div>
  )
}
