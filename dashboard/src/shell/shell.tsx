import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { basePath, type Session } from '../api/client.ts'
import { buttonStyle } from '../parts/button.tsx'
import { HealthWord } from './health-word.tsx'
import { LiveMark } from './live-mark.tsx'
import { Mark } from './mark.tsx'
import { Navigation } from './navigation.tsx'
import { PausedBanner } from './paused-banner.tsx'
import { SchemeSwitch } from './scheme-switch.tsx'
import { useKeptFocus } from './use-kept-focus.ts'
import { Who } from './who.tsx'

/** What is around every page: beside it where there is room, above it where there is not. */
export function Shell({ session, children }: { session: Session; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  useFocusOnView(main)
  useKeptFocus(main)
  const close = () => setOpen(false)
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[13.5rem_minmax(0,1fr)]">
      <button
        type="button"
        onClick={() => main.current?.focus()}
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-10 focus:rounded-md focus:bg-surface focus:px-3 focus:py-2"
      >
        Skip to the content
      </button>
      <header className="border-line border-b bg-surface lg:sticky lg:top-0 lg:flex lg:h-dvh lg:flex-col lg:border-r lg:border-b-0">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2.5 lg:px-5 lg:py-4">
          <Link
            href="/"
            className="mr-auto flex items-center gap-2 font-semibold tracking-tight lg:mr-0 lg:w-full"
          >
            <Mark className="size-5" />
            Escapement
          </Link>
          <HealthWord />
          <LiveMark />
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls="menu"
            className={`${buttonStyle()} lg:hidden`}
            onClick={() => setOpen(!isOpen)}
          >
            Menu
          </button>
        </div>
        <div
          id="menu"
          className={`${isOpen ? 'grid' : 'hidden'} gap-4 border-line border-t px-3 py-3 lg:flex lg:min-h-0 lg:flex-1 lg:flex-col lg:border-t-0 lg:pt-0`}
        >
          <Navigation onChoose={close} />
          <div className="grid gap-3 px-2 lg:mt-auto lg:pb-2">
            <SchemeSwitch />
            <a href={`${basePath}/docs`} className="text-accent text-xs underline-offset-2 hover:underline">
              API documentation
            </a>
            <Who session={session} />
          </div>
        </div>
      </header>
      <div className="min-w-0">
        <PausedBanner />
        <main id="main" ref={main} tabIndex={-1} className="mx-auto max-w-6xl px-4 py-5 outline-none sm:px-6">
          {children}
        </main>
      </div>
    </div>
  )
}

/** Whoever goes to another view hears of it, and goes on from its top. The first view is where they are already. */
function useFocusOnView(main: { current: HTMLElement | null }): void {
  const [view] = useLocation()
  const last = useRef(view)
  useEffect(() => {
    if (last.current === view) return
    last.current = view
    main.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [view, main])
}
