import type { ReactNode } from 'react'
import { EscapementError } from '../api/client.ts'
import { Failure } from './failure.tsx'
import { Pager } from './pager.tsx'

interface ListingProps {
  /** What was answered; undefined before the first answer. */
  page: { count: number; nextPageToken: string | null } | undefined
  pageToken: string | undefined
  error: Error | null
  /** Another page is on its way. */
  isBusy: boolean
  /** Shown where there is none at all. */
  empty: ReactNode
  children: ReactNode
}

/** One page of a list, or why there is none, and the way to the next. */
export function Listing({ page, pageToken, error, isBusy, empty, children }: ListingProps) {
  // A token is of one filter, and of one server.
  const isOldToken =
    pageToken !== undefined && error instanceof EscapementError && error.code === 'option_invalid'
  const isWhole = pageToken === undefined && page?.nextPageToken === null
  return (
    <>
      {error && (
        <Failure
          error={error}
          {...(isOldToken && { what: 'This page is not there any more: go to the first.' })}
        />
      )}
      {!page && !error && (
        <p aria-busy="true" className="rounded-lg border border-line bg-surface p-4 text-muted">
          Reading…
        </p>
      )}
      {page && (
        <div
          aria-busy={isBusy}
          className={`min-w-0 overflow-hidden rounded-lg border border-line bg-surface ${isBusy ? 'opacity-60' : ''}`}
        >
          {page.count > 0 && children}
          {page.count === 0 && isWhole && empty}
          {page.count === 0 && !isWhole && (
            <p className="p-4 text-muted">
              {page.nextPageToken === null
                ? 'There are no more.'
                : 'None among those that were looked through; there may be more on the next page.'}
            </p>
          )}
        </div>
      )}
      <Pager pageToken={pageToken} next={page?.nextPageToken ?? null} />
    </>
  )
}
