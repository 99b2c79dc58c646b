/** The escape wheel's pallet and the hands: our mark. */
export function Mark({ className = '' }: { className?: string }) {
  return (
    <svg
      viewBox="0 0 24 24"
      aria-hidden="true"
      className={`text-accent ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <circle cx="12" cy="14" r="7" />
      <path d="M12 14V9.5M12 14l3 2M7 4.5 12 2l5 2.5" />
    </svg>
  )
}
