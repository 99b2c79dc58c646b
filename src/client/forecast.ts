import { EscapementError } from '../errors.js'
import { readLabel } from '../runs/assignment.js'
import {
  countInGroup,
  type ForecastFilter,
  type ForecastGroup,
  readForecastGroups,
  readForecastOfGroup,
  readScheduleSpace,
} from '../store/queries/forecasting.js'
import type { Store } from '../store/store.js'
import type { DurationInput } from '../time/duration.js'
import type { InstantInput } from '../time/instant.js'
import { quote, readOrThrow } from '../time/report.js'
import { countRuns, type ForecastBucket, type ForecastRange } from './forecast-counting.js'

/** What is counted apart. */
export type ForecastBy = 'queue' | 'group' | 'both' | 'none'

export interface Forecast {
  buckets: ForecastBucket[]
  /**
   * Whether the figures are scaled up from a part of the schedules, because all of them would take too long. Many runs at one time are never
   * missed; what only few schedules ask for may be.
   */
  isEstimate: boolean
}

/** What `forecast` takes. */
export interface ForecastOptions {
  /** Inclusive. What is past is not counted. */
  from: InstantInput
  /** Exclusive. */
  to: InstantInput
  /** How long each part is that is counted. */
  bucket: DurationInput
  /** Only schedules whose runs go into this queue. */
  queue?: string
  /** Only schedules of this group. */
  group?: string
  /**
   * What is counted apart. The fewer, the smaller the answer.
   * @default 'both'
   */
  by?: ForecastBy
}

export const FORECAST_DEFAULTS = { by: 'both' } satisfies Partial<ForecastOptions>

interface ForecastQuestion extends ForecastRange {
  queue?: string | undefined
  group?: string | undefined
  by?: ForecastBy | undefined
}

const MAX_BUCKETS = 10_000
/** Up to here all schedules are read: some 36,000 of usual size. */
const WHOLE_BLOCKS = 3_000
/** And up to here on more pages: those of schedules that are deleted stay, and at random hardly one of the others would be found. */
const WHOLE_SCHEDULES = 36_000
/** Of more, as many pages at random: some 9,000 schedules, with an error of a few hundredths. */
const SAMPLE_BLOCKS = 750
/** A group of up to so many is read by itself, whole. */
const WHOLE_GROUP = 10_000
/** In plan times: some hundredths of a second. */
const WORK_AMONG_MANY = 150_000
/** Where all are read: about a second. */
const WORK_AMONG_FEW = 10_000_000

/** How many runs are to come in each bucket of time: herds are seen before they happen. */
export async function forecast(store: Store, question: ForecastQuestion): Promise<Forecast> {
  const { from, to, bucketMs } = question
  if (!(bucketMs > 0) || !(to > from) || (to - from) / bucketMs > MAX_BUCKETS) {
    throw new EscapementError('option_invalid', {
      message: `The range must be positive and hold at most ${MAX_BUCKETS} buckets: choose a shorter range or a larger bucket.`,
    })
  }
  const { groups, scale, mostWork } = await readGroups(store, readFilter(question))
  const { buckets, isWhole } = await countRuns(groups, { from, to, bucketMs }, { scale, mostWork })
  return { buckets, isEstimate: scale > 1 || !isWhole }
}

const APART: Readonly<Record<ForecastBy, Pick<ForecastFilter, 'byQueue' | 'byGroup'>>> = {
  queue: { byQueue: true, byGroup: false },
  group: { byQueue: false, byGroup: true },
  both: { byQueue: true, byGroup: true },
  none: { byQueue: false, byGroup: false },
}

function readFilter({ queue, group, by = FORECAST_DEFAULTS.by }: ForecastQuestion): ForecastFilter {
  return readOrThrow('option_invalid', (report) => {
    const apart = Object.hasOwn(APART, by) ? APART[by] : undefined
    if (!apart) return report('by', `${quote(by)} – must be "queue", "group", "both" or "none"`)
    return {
      queue: queue === undefined ? null : (readLabel(queue, 'queue', report) ?? null),
      group: group === undefined ? null : (readLabel(group, 'group', report) ?? null),
      ...apart,
    }
  })
}

interface ReadGroups {
  groups: ForecastGroup[]
  /** For how many each of them stands. */
  scale: number
  mostWork: number
}

async function readGroups(store: Store, filter: ForecastFilter): Promise<ReadGroups> {
  const { blocks, schedules } = await readScheduleSpace(store, store.schema)
  if (blocks <= WHOLE_BLOCKS || (schedules !== null && schedules <= WHOLE_SCHEDULES)) {
    return { groups: await readForecastGroups(store, filter, 100), scale: 1, mostWork: WORK_AMONG_FEW }
  }
  const mostWork = WORK_AMONG_MANY
  const { group } = filter
  if (group !== null && (await countInGroup(store, group, WHOLE_GROUP + 1)) <= WHOLE_GROUP) {
    const groups = await readForecastOfGroup(store, { ...filter, group }, WHOLE_GROUP)
    return { groups, scale: 1, mostWork }
  }
  const share = SAMPLE_BLOCKS / blocks
  return { groups: await readForecastGroups(store, filter, share * 100), scale: 1 / share, mostWork }
}
