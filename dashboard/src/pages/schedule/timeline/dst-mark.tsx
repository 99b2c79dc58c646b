/** Says that the zone has done something to it. */
export function DstMark() {
  return (
    <span
      aria-hidden="true"
      className="shrink-0 rounded-sm border border-current px-0.5 font-semibold text-[0.625rem] text-accent leading-3"
    >
      DST
    </span>
  )
}
