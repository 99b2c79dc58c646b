import type { ReactNode } from 'react'
import { Card } from './card.tsx'
import { Pager } from './pager.tsx'

export interface PagedCardProps {
  title: string
  /** The name of its page in the address. */
  field: string
  pageToken: string | undefined
  next: string | null | undefined
  children: ReactNode
}

/** A card whose entries come in pages of their own, beside those of others on the same view. */
export function PagedCard({ title, field, pageToken, next, children }: PagedCardProps) {
  return (
    <Card title={title}>
      {children}
      <div className="px-4 py-3 empty:hidden">
        <Pager
          pageToken={pageToken}
          next={next ?? null}
          field={field}
          label={`Pages of the ${title.toLowerCase()}`}
        />
      </div>
    </Card>
  )
}
