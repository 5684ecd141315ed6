import type { Shares } from '../shares.ts'
import type { Item } from './queues.ts'

/** Messages of a webhook that are queued or being sent, and their bytes. */
export const WINDOW = 256
const WINDOW_BYTES = 4 * 1024 * 1024
/** What a webhook can always hold, although others of its team have used up the team's share. */
const MINIMUM = 8

/** Counts what a webhook holds, within its own limits and the share of its team. */
export function newWindow({ messages, bytes }: { messages: Shares; bytes: Shares }, team_id: string) {
  let [count, size] = [0, 0]

  function add(change: number, { event }: Item) {
    const length = event.sealed?.length ?? 0
    count += change
    size += change * length
    if (change > 0) {
      messages.take(team_id)
      bytes.take(team_id, length)
    } else {
      messages.release(team_id)
      bytes.release(team_id, length)
    }
  }

  const teamRoom = () => Math.max(MINIMUM - count, bytes.room(team_id) > 0 ? messages.room(team_id) : 0)

  return {
    hold: (item: Item) => add(1, item),
    letGo: (item: Item) => add(-1, item),
    count: () => count,
    hasRoom: () => count < WINDOW && size < WINDOW_BYTES && teamRoom() > 0,
    room: () => ({ limit: Math.min(WINDOW - count, teamRoom()), bytes: Math.min(WINDOW_BYTES - size, Math.max(1, bytes.room(team_id))) }),
    clear() {
      messages.release(team_id, count)
      bytes.release(team_id, size)
    },
  }
}
