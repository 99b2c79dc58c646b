import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Failure } from './failure.tsx'

/** What a query gave; before that a quiet place for it, and where it failed, what failed. */
export function Loaded<Data>({
  query,
  children,
}: {
  query: Pick<UseQueryResult<Data>, 'data' | 'error'>
  children: (data: Data) => ReactNode
}) {
  const { data, error } = query
  return (
    <>
      {error && (
        <div className="p-4">
          <Failure error={error} />
        </div>
      )}
      {data !== undefined && children(data)}
      {data === undefined && !error && (
        <div className="p-4 text-muted" aria-busy="true">
          Reading…
        </div>
      )}
    </>
  )
}
