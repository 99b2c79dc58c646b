const GAP = 6
const EDGE = 8

/** Puts what is open below what it belongs to, or above it where there is more room, and within the window. */
export function placeBeside(element: HTMLElement, anchor: HTMLElement): void {
  const at = anchor.getBoundingClientRect()
  const { width, height } = element.getBoundingClientRect()
  const below = at.bottom + GAP
  const above = at.top - GAP - height
  const isRoomBelow = below + height <= window.innerHeight - EDGE
  const top = isRoomBelow || above < EDGE ? below : above
  const left = Math.max(EDGE, Math.min(at.left, document.documentElement.clientWidth - width - EDGE))
  element.style.top = `${top + window.scrollY}px`
  element.style.left = `${left + window.scrollX}px`
}
