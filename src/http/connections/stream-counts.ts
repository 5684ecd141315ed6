/** Counts the open event streams of each team. */
export function streamCounts() {
  const counts = new Map<string, number>()
  const countOf = (team: string) => counts.get(team) ?? 0
  return {
    /** Returns false if the team has reached the limit. */
    open(team: string, limit: number) {
      if (countOf(team) >= limit) return false
      counts.set(team, countOf(team) + 1)
      return true
    },
    close(team: string) {
      if (countOf(team) > 1) counts.set(team, countOf(team) - 1)
      else counts.delete(team)
    },
  }
}
