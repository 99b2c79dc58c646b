/** What came of an action, for whoever sees and for whoever hears; the place is there before it is filled, so that it is heard. */
export function Told({ children }: { children: string }) {
  return (
    <p role="status" className={children === '' ? 'sr-only' : 'rounded-md bg-good-tint px-3 py-2 text-good'}>
      {children}
    </p>
  )
}
