/** Lanes one worker holds at once, and how many of them for one webhook. */
const MAX_LANES = 256
const MAX_LANES_PER_WEBHOOK = 64
/** A team that holds more lanes than this has a backlog or slow webhooks, so its new messages wait for their turn. */
const MAX_DIRECT_LANES = MAX_LANES / 2
/** The share of the lanes left by other teams that a team can hold. Busy teams end up with equal shares, and a new one always finds room. */
const TEAM_SHARE = 3 / 4

export type LaneCapacity = ReturnType<typeof laneCapacity>

/** Counts the lanes that a worker holds by team. */
export function laneCapacity() {
  const held = new Map<string, number>()
  let total = 0

  function add(team_id: string, count: number) {
    const now = (held.get(team_id) ?? 0) + count
    total += count
    if (now > 0) held.set(team_id, now)
    else held.delete(team_id)
  }

  return {
    /** Reserves lanes for a claim. No webhook takes all of the remaining capacity, so a few slow ones cannot block the others. */
    reserve(team_id: string) {
      const [own, free] = [held.get(team_id) ?? 0, MAX_LANES - total]
      const limit = Math.max(0, Math.min(free, Math.ceil(TEAM_SHARE * (own + free)) - own))
      const per_webhook = Math.min(MAX_LANES_PER_WEBHOOK, Math.ceil(free / 2))
      add(team_id, limit)
      return { limit, per_webhook }
    },
    /** Reserves up to `count` lanes for a new event, at most as many as leave room for lanes that have waited longer. */
    reserveFew(team_id: string, count: number) {
      const own = held.get(team_id) ?? 0
      const limit = own < MAX_DIRECT_LANES && total < TEAM_SHARE * MAX_LANES ? count : 0
      add(team_id, limit)
      return limit
    },
    release: (team_id: string, count: number) => add(team_id, -count),
    total: () => total,
  }
}
