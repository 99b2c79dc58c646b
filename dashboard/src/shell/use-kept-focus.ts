import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

/**
 * What was pressed may be gone when it is done, as “Pause” is on a paused schedule, and with it the place of whoever works by
 * keyboard: they go on from the top of the view.
 */
export function useKeptFocus(main: { current: HTMLElement | null }): void {
  const mutations = useQueryClient().getMutationCache()
  useEffect(
    () =>
      mutations.subscribe((event) => {
        if (event.type !== 'updated' || !['success', 'error'].includes(event.action.type)) return
        // What it has changed is shown by then.
        requestAnimationFrame(() => {
          if (document.activeElement === document.body) main.current?.focus({ preventScroll: true })
        })
      }),
    [mutations, main],
  )
}
