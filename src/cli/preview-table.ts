import type { Instant, Preview, PreviewedOccurrence } from '../time/index.js'
import { colours } from './colours.js'
import { distance, localTime } from './local-time.js'
import { formatColumns } from './table.js'

/** Those of a schedule may be wished away. */
type Occurrence = PreviewedOccurrence & { skipped?: boolean }

interface Previewed extends Preview {
  occurrences: Occurrence[]
}

/** A timing in words and its plan times, in local time, on the wall of its zone, and in UTC. */
export function formatPreview({ description, occurrences }: Previewed, zone: string, now: Instant): string {
  if (occurrences.length === 0) return `${description}\nNo plan time is left.`
  const table = formatColumns<Occurrence>(
    [
      { title: 'LOCAL', cell: ({ planTime }) => localTime(planTime) },
      { title: zone.toUpperCase(), cell: ({ local }) => (zone === 'UTC' ? '' : local.replace('T', ' ')) },
      { title: 'UTC', cell: ({ planTime }) => planTime.replace('T', ' ').replace(/(\.000)?Z$/, '') },
      { title: 'DISTANCE', cell: ({ planTime }) => distance(Date.parse(planTime) - now) },
      { title: 'NOTE', cell: noteOf },
    ],
    occurrences,
  )
  return `${description}\n\n${table}`
}

function noteOf({ skipped, note = '' }: Occurrence): string {
  return skipped ? [colours.yellow('to be skipped'), ...(note === '' ? [] : [note])].join('; ') : note
}
