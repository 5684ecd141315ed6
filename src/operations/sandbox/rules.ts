import { invalid, problem } from '../../platform/problem.ts'

export type Move = { advance_seconds?: number | undefined; now?: string | undefined }

const clockIsMoving = problem('CLOCK_IS_MOVING', 'Another request is still moving this clock. Retry in a few seconds.')

export const isClockMoving = (error: unknown) => error === clockIsMoving

/** Returns the offset of a locked clock. Undefined means that another request holds the lock. */
export function requireLock(locked: { clock_offset_ms: number } | undefined) {
  if (!locked) throw clockIsMoving
  return locked.clock_offset_ms
}

const END = Date.parse('3000-01-01T00:00:00.000Z')

/** The clock's offset from real time after a move. */
export function offsetAfter(wall: string, offset_ms: number, move: Move) {
  const offset = requestedOffset(wall, offset_ms, move)
  if (offset < offset_ms)
    throw problem('CLOCK_MOVES_FORWARD', 'The clock only moves forward. POST /sandbox/clock/reset sets it back to real time.')
  if (Date.parse(wall) + offset >= END) throw invalid(['body'], 'The clock cannot move past the year 2999.')
  return offset
}

function requestedOffset(wall: string, offset_ms: number, { advance_seconds, now }: Move) {
  if (advance_seconds !== undefined && now === undefined) return offset_ms + Math.round(advance_seconds * 1000)
  if (now !== undefined && advance_seconds === undefined) return Date.parse(now) - Date.parse(wall)
  throw invalid(['body'], 'Send either advance_seconds or now, not both.')
}

/** Resetting a team requires its ID as a confirmation. */
export function checkConfirmation(team_id: string, confirmed_id: string) {
  if (confirmed_id.toLowerCase() !== team_id)
    throw problem('NOT_THE_TEAM', 'team_id is not the team of this key. Send the ID of the team to reset, with a key of that team.')
}
