import { fromWall } from '../../time/wall.ts'

export const UNTIL_CHOICES = {
  resumed: 'somebody resumes it',
  hour: 'one hour from now',
  tomorrow: 'tomorrow at 9:00',
  date: 'a time of your choice',
} as const

export type UntilChoice = keyof typeof UNTIL_CHOICES

const MORNING = 9

/** When a pause is to end, as the API takes it; undefined for never, and null where the time is still to be given. */
export function untilOf(
  choice: UntilChoice,
  typed: string,
  now: Date,
): string | { in: string } | undefined | null {
  switch (choice) {
    case 'resumed':
      return undefined
    case 'hour':
      // By the clock of the database: that of the browser may be wrong.
      return { in: '1 hour' }
    case 'tomorrow':
      return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, MORNING).toISOString()
    case 'date':
      return fromWall(typed) || null
  }
}
