import { useQuery } from '@tanstack/react-query'
import { useMay } from '../../api/may.ts'
import { transitionsQuery } from '../../api/queries.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { NoTransitions } from './no-transitions.tsx'
import { Sweep } from './sweep.tsx'
import { TransitionCard } from './transition-card.tsx'

/** What becomes of the application's own rows when their time comes. */
export function TransitionsPage() {
  const query = useQuery(transitionsQuery)
  const maySweep = useMay('operator')
  return (
    <Page title="Transitions">
      <Loaded query={query}>
        {({ transitions }) =>
          transitions.length === 0 ? (
            <NoTransitions />
          ) : (
            <>
              {maySweep && <Sweep hasQuarantined={transitions.some(({ quarantined }) => quarantined > 0)} />}
              {transitions.map((transition) => (
                <TransitionCard key={transition.table} transition={transition} />
              ))}
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
