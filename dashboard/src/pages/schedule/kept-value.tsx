import { Card } from '../../parts/card.tsx'
import { JsonText } from '../../parts/json-text.tsx'

/** What the server puts in the place of what it does not show. */
const HIDDEN = '[redacted]'

/** What users put there, as JSON; what is hidden is said to be. */
export function KeptValue({ title, value }: { title: string; value: unknown }) {
  const isHidden = value === HIDDEN
  const hasHidden = JSON.stringify(value)?.includes(JSON.stringify(HIDDEN)) ?? false
  return (
    <Card title={title}>
      <div className="grid gap-2 p-3">
        {!isHidden && <JsonText label={`${title} as JSON`} value={value} />}
        {hasHidden && (
          <p className="text-muted text-xs">
            {isHidden ? 'It is hidden: ' : 'Where it says “[redacted]”, a value is hidden: '}
            this server does not show such values. They are kept, and the job gets them.
          </p>
        )}
      </div>
    </Card>
  )
}
