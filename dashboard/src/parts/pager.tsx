import { Link, useLocation, useSearchParams } from 'wouter'
import { buttonStyle } from './button.tsx'

interface PagerProps {
  pageToken: string | undefined
  next: string | null
  /** What the token is called in the address, where there are several lists on a page. */
  field?: string
  label?: string
}

/** To the next page and to the first: a page knows what follows it, and the browser where it came from. */
export function Pager({ pageToken, next, field = 'pageToken', label = 'Pages' }: PagerProps) {
  const [path] = useLocation()
  const [params] = useSearchParams()
  if (pageToken === undefined && next === null) return null
  const hrefOf = (token: string | null) => {
    const search = new URLSearchParams(params)
    if (token === null) search.delete(field)
    else search.set(field, token)
    return search.size === 0 ? path : `${path}?${search}`
  }
  return (
    <nav aria-label={label} className="flex justify-end gap-2">
      {pageToken !== undefined && (
        <Link href={hrefOf(null)} className={buttonStyle()}>
          First page
        </Link>
      )}
      {next !== null && (
        <Link href={hrefOf(next)} className={buttonStyle()}>
          Next page
        </Link>
      )}
    </nav>
  )
}
