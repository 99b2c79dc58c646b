/**
 * Pages of long lists. A page token says where a list goes on and what it is a list of, so that one which is cut, invented, or
 * given with another filter is refused instead of answered with something else. It is no secret, and grants nothing.
 *
 * A page is filled by looks at a bounded part of the list each, the later ones at more: where a filter finds little, the
 * page is short and the next one goes on where the last look ended.
 */
import { createHash } from 'node:crypto'
import { quote, type Report } from '../time/report.js'

/** What a list is asked for, without the page: absent and undefined are the same. */
export type Filter = Readonly<Record<string, unknown>>

const DIGEST_DIGITS = 12

/** What a token belongs to. */
export interface TokenList {
  /** The list, and whose it is. */
  list: string
  filter: Filter
}

export function writeToken({ list, filter }: TokenList, position: readonly string[]): string {
  const body = Buffer.from(JSON.stringify([markOf(list, filter), ...position])).toString('base64url')
  return `${body}.${digest(body)}`
}

/** Where the token says that the list goes on; `toPosition` gives undefined where that can be no place of it. */
export function readToken<Position>(
  token: string,
  { list, filter }: TokenList,
  toPosition: (texts: readonly string[]) => Position | undefined,
  report: Report,
): Position | undefined {
  const [mark, ...texts] = textsOf(token)
  if (mark !== undefined && mark !== markOf(list, filter)) {
    return report('pageToken', `${quote(token)} – is of another list or filter; begin again without it`)
  }
  const position = mark === undefined ? undefined : toPosition(texts)
  return position ?? report('pageToken', `${quote(token)} – is none that a page of this list has`)
}

function textsOf(token: string): string[] {
  const [body = '', check, ...more] = token.split('.')
  if (more.length > 0 || check !== digest(body)) return []
  try {
    const texts: unknown = JSON.parse(Buffer.from(body, 'base64url').toString())
    return Array.isArray(texts) && texts.every((text) => typeof text === 'string') ? texts : []
  } catch {
    return []
  }
}

function markOf(list: string, filter: Filter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  return digest(JSON.stringify([list, given.sort(([a], [b]) => (a < b ? -1 : 1))]))
}

function digest(text: string): string {
  return createHash('sha256').update(`escapement page|${text}`).digest('hex').slice(0, DIGEST_DIGITS)
}

/** What one look at a part of the list found. */
interface Look<Row, Position> {
  rows: Row[]
  /** How far it looked; null where the list ended. */
  end: Position | null
}

/** Looks on from a place for at most `limit` rows; null where this one cannot tell, and another must. */
export type LookFrom<Row, Position> = (from: Position, limit: number) => Promise<Look<Row, Position> | null>

export interface PageRequest<Row, Position> {
  limit: number
  from: Position
  /** One after the other, until the page is full or the list ends. */
  looks: readonly LookFrom<Row, Position>[]
  positionOf(row: Row): Position
}

export interface Page<Row, Position> {
  rows: Row[]
  /** Where the next page begins; null where there is none. */
  next: Position | null
}

export async function fillPage<Row, Position>({
  limit,
  looks,
  positionOf,
  ...request
}: PageRequest<Row, Position>): Promise<Page<Row, Position>> {
  const rows: Row[] = []
  let from = request.from
  for (const look of looks) {
    // One more than is wanted tells whether there is a next page.
    const found = await look(from, limit + 1 - rows.length)
    if (found === null) continue
    rows.push(...found.rows)
    if (rows.length > limit) {
      rows.length = limit
      return { rows, next: positionOf(rows.at(-1)!) }
    }
    if (found.end === null) return { rows, next: null }
    from = found.end
    if (rows.length === limit) break
  }
  return { rows, next: from }
}

/** How many entries the looks of a page take in where the filter has to be held against each of them. */
const FIRST_LOOK = 400
export const SECOND_LOOK = 4_000
export const LAST_LOOK = 20_000
/** Of entries whose rows lie apart, each on a page of its own: where those are not in the server's memory, most of the time goes to them. */
export const LAST_SCATTERED_LOOK = 5_000

export function firstLook(limit: number): number {
  return Math.max(limit + 1, FIRST_LOOK)
}
