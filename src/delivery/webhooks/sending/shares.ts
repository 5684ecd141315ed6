/** The share of what other teams have left that a team can hold. Busy teams end up with equal shares, and a new one always finds room. */
const TEAM_SHARE = 3 / 4

export type Shares = ReturnType<typeof newShares>

/** Divides a resource of a worker, such as requests in flight, between its teams. `onFree` is called when there is room again. */
export function newShares(limit: number, onFree: () => void = () => {}) {
  const held = new Map<string, number>()
  let total = 0
  let isWanted = false

  function add(team_id: string, count: number) {
    const now = (held.get(team_id) ?? 0) + count
    total += count
    if (now > 0) held.set(team_id, now)
    else held.delete(team_id)
  }

  return {
    /** How much more a team can take. */
    room(team_id: string) {
      const [own, free] = [held.get(team_id) ?? 0, limit - total]
      // A team that holds nothing always goes on, although others may hold more than their shares for a moment.
      const room = Math.max(own === 0 ? 1 : 0, Math.min(free, Math.ceil(TEAM_SHARE * (own + free)) - own))
      if (room === 0) isWanted = true
      return room
    },
    take: (team_id: string, count = 1) => add(team_id, count),
    release(team_id: string, count = 1) {
      add(team_id, -count)
      if (!isWanted) return
      isWanted = false
      setImmediate(onFree)
    },
    total: () => total,
  }
}
