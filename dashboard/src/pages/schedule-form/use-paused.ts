import { useEffect, useState } from 'react'

const PAUSE_MS = 250

/** A text as it was when whoever types it last paused. */
export function usePaused(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
