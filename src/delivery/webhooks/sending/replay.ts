import type { Position } from '../../../contract/delivery/log-rows.ts'
import { followPositions } from './rules-positions.ts'
import type { ReplayRow } from './store-cursors.ts'

/** A replay is a second cursor, with an end. */
export type Replay = ReturnType<typeof newReplay>

export function newReplay({ id, after_no, decided, event_types }: ReplayRow, start: Position, end: Position) {
  const positions = followPositions({ after_no: Math.max(after_no, start.no), after_at: start.at, last_no: null, done: decided })
  let [done, sent] = [0, 0]
  let isReported = false
  const isOver = () => positions.read().no >= end.no && positions.length() === 0
  return {
    id,
    event_types,
    end,
    positions,
    /** A message is decided. `isSent` says whether the webhook received it, or will. */
    count(isSent: boolean) {
      done += 1
      if (isSent) sent += 1
    },
    isOver,
    /** Whether the last change said that it is over. It may have ended since a change was taken that does not. */
    isReported: () => isReported,
    /** What has happened since the last record. */
    takeChange(at: string) {
      const { after_no, done: decided } = positions.position()
      const change = { id, after_no, decided, done, sent, is_over: isOver(), at }
      done = 0
      sent = 0
      isReported = change.is_over
      return change
    },
  }
}
