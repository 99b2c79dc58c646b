import { Link, useRoute } from 'wouter'
import { useMay, useSeesAll } from '../api/may.ts'
import { PAGES } from '../pages/pages.ts'

/** The views that there are for whoever is logged in. */
export function Navigation({ onChoose }: { onChoose?: () => void }) {
  const seesAll = useSeesAll()
  const isAdmin = useMay('admin')
  return (
    <nav aria-label="Views">
      <ul className="grid gap-0.5">
        {PAGES.map(({ path, title, isOfAll, isForAdmins }) =>
          title === undefined || (isOfAll && !seesAll) || (isForAdmins && !isAdmin) ? null : (
            <li key={path}>
              <NavigationLink path={path} title={title} {...(onChoose && { onChoose })} />
            </li>
          ),
        )}
      </ul>
    </nav>
  )
}

function NavigationLink({ path, title, onChoose }: { path: string; title: string; onChoose?: () => void }) {
  const [isExactly] = useRoute(path)
  const [isBelow] = useRoute(`${path}/*`)
  const isHere = isExactly || (path !== '/' && isBelow)
  return (
    <Link
      href={path}
      aria-current={isHere ? 'page' : undefined}
      className="block rounded-md px-2.5 py-1.5 text-muted hover:bg-raised hover:text-ink aria-[current=page]:bg-raised aria-[current=page]:font-medium aria-[current=page]:text-ink"
      {...(onChoose && { onClick: onChoose })}
    >
      {title}
    </Link>
  )
}
