import type { App } from '../../app.ts'
import { declareCache } from '../../caches.ts'
import { isPipelined, type PipelinedDb } from '../open.ts'
import { groupWrites } from './group-writes.ts'

type Write<T> = {
  /** Writes items of several requests of a team in one transaction, or none of them. */
  together(app: App & { db: PipelinedDb }, team_id: string, items: T[]): Promise<unknown>
  alone(app: App, item: T): Promise<void>
}

/** Writes the items of a team that arrive together in groups. Inside a transaction, an item is written alone. */
export function groupWritesOfTeams<T>({ together, alone }: Write<T>) {
  type Waiting = { app: App; item: T }
  const newGroup = (app: App & { db: PipelinedDb }, team_id: string) =>
    groupWrites<Waiting>({
      together: (waiting) =>
        together(
          app,
          team_id,
          waiting.map(({ item }) => item),
        ),
      alone: ({ app, item }) => alone(app, item),
    })
  const groupsOf = declareCache(() => new Map<string, ReturnType<typeof newGroup>>())
  return async (app: App, team_id: string, item: T) => {
    const { db } = app
    if (app.transaction || !isPipelined(db)) return alone(app, item)
    const groups = groupsOf(app)
    const group = groups.get(team_id) ?? newGroup({ ...app, db }, team_id)
    groups.set(team_id, group)
    await group.write({ app, item }).finally(() => group.isIdle() && groups.delete(team_id))
  }
}
