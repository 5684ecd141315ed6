import { invalid, problem } from '../../platform/problem.ts'

export type Move = { advance_seconds?: number | undefined; now?: string | undefined }

const moving = problem('CLOCK_IS_MOVING', 'Another move of this clock is still under way; send the request again in a few seconds.')

export const isMoving = (error: unknown) => error === moving

/** The offset of a clock that is ours to move. */
export function mine(locked: { clock_offset_ms: number } | undefined) {
  if (!locked) throw moving
  return locked.clock_offset_ms
}

const END = Date.parse('3000-01-01T00:00:00.000Z')

/** How far the clock stands from real time after a move. */
export function offsetAfter(wall: string, offset_ms: number, move: Move) {
  const offset = wantedOffset(wall, offset_ms, move)
  if (offset < offset_ms)
    throw problem('CLOCK_MOVES_FORWARD', 'The clock only moves forward; POST /sandbox/clock/reset sets it back to real time.')
  if (Date.parse(wall) + offset >= END) throw invalid(['body'], 'The clock ends with the year 2999.')
  return offset
}

function wantedOffset(wall: string, offset_ms: number, { advance_seconds, now }: Move) {
  if (advance_seconds !== undefined && now === undefined) return offset_ms + Math.round(advance_seconds * 1000)
  if (now !== undefined && advance_seconds === undefined) return Date.parse(now) - Date.parse(wall)
  throw invalid(['body'], 'Send either advance_seconds or now, and not both.')
}

/** Who empties a team names it. */
export function checkNamed(team_id: string, named: string) {
  if (named.toLowerCase() !== team_id)
    throw problem(
      'NOT_THE_TEAM',
      'The key is of another team than team_id; send the id of the team that is to be emptied with a key of it.',
    )
}
