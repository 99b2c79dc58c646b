import { Link, useLocation, useSearchParams } from 'wouter'
import { SPANS, type Span } from './spans.ts'

/** How far back to look, in the address. */
export function SpanSwitch({ span }: { span: Span }) {
  const [path] = useLocation()
  const [params] = useSearchParams()
  const hrefOf = (name: string) => {
    const search = new URLSearchParams(params)
    if (name === SPANS[0].name) search.delete('span')
    else search.set('span', name)
    return search.size === 0 ? path : `${path}?${search}`
  }
  return (
    <nav aria-label="How far back" className="flex gap-1">
      {SPANS.map(({ name }) => (
        <Link
          key={name}
          href={hrefOf(name)}
          aria-current={name === span.name ? 'true' : undefined}
          className="rounded px-2 py-0.5 text-muted hover:text-ink aria-[current=true]:bg-raised aria-[current=true]:font-medium aria-[current=true]:text-ink"
        >
          {name[0]!.toUpperCase() + name.slice(1)}
        </Link>
      ))}
    </nav>
  )
}
