import { useEffect } from 'react'

/** What the tab and a screen reader call the view. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Escapement`
  }, [title])
}
