import type { App } from '../../app.ts'
import { declareCache } from '../../caches.ts'
import { groupWrites } from './group-writes.ts'

type Write<T, R> = {
  /** Writes items of a team in one transaction, or none of them. Several are of several requests. */
  write(app: App, team_id: string, items: T[]): Promise<R>
  bytesOf(item: T): number
}

/** An item with more bytes shares no statement: the others would wait for it. */
const MAX_BYTES = 64 * 1024

/** Writes the items of a team that arrive together in groups. Inside a transaction, an item is written alone. */
export function groupWritesOfTeams<T, R>({ write, bytesOf }: Write<T, R>) {
  type Waiting = { app: App; item: T }
  const newGroup = (team_id: string) =>
    groupWrites<Waiting, R>((waiting) =>
      write(
        (waiting[0] as Waiting).app,
        team_id,
        waiting.map(({ item }) => item),
      ),
    )
  const groupsOf = declareCache(() => new Map<string, ReturnType<typeof newGroup>>())
  return async (app: App, team_id: string, item: T): Promise<R> => {
    if (app.transaction || !app.db.pipelined || bytesOf(item) > MAX_BYTES) return write(app, team_id, [item])
    const groups = groupsOf(app)
    const group = groups.get(team_id) ?? newGroup(team_id)
    groups.set(team_id, group)
    return group.write({ app, item }).finally(() => group.isIdle() && groups.delete(team_id))
  }
}
