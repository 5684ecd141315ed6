import type { FilterVersion } from '../../../contract/delivery/log-rows.ts'
import type { App } from '../../../platform/app.ts'
import { findLastBefore } from '../../events/access.ts'
import type { FormatVersion } from '../../formats/rules.ts'
import { listFormats } from '../../formats/settings.ts'
import { listVersions } from '../store-positions.ts'
import { newReplay, type Replay } from './replay.ts'
import * as store from './store-cursors.ts'

/** A webhook as it is stored: its cursor, settings, filters, parked keys and replays. */
export type LoadedWebhook = {
  cursor: store.CursorRow
  state: store.WebhookState
  versions: FilterVersion[]
  parked: store.ParkedKeyRow[]
  replays: Replay[]
  formats: FormatVersion[]
}

/** Takes over the cursors of a team that its owner does not hold yet, and loads all of its webhooks. */
export async function takeWebhooks(
  app: App,
  team_id: string,
  { worker, held }: { worker: string; held: store.HeldCursor[] },
): Promise<LoadedWebhook[]> {
  const { db } = app
  const cursors = await store.takeCursors(db, team_id, worker, held)
  await store.deletePassedFilters(db, team_id)
  const webhooks = await store.listWebhooks(db, team_id)
  const states = new Map(webhooks.map((state) => [state.id, state]))
  const versions = await listVersions(db, team_id, webhooks)
  const parked = Map.groupBy(await store.listParkedKeys(db, team_id), ({ webhook_id }) => webhook_id)
  const replays = Map.groupBy(await openReplays(db, team_id), ({ webhook_id }) => webhook_id)
  const formats = await listFormats(app, team_id)
  return cursors.flatMap((cursor) => {
    const { webhook_id } = cursor
    const state = states.get(webhook_id)
    if (!state) return []
    return {
      cursor,
      state,
      versions: versions.get(webhook_id) ?? [],
      parked: parked.get(webhook_id) ?? [],
      replays: (replays.get(webhook_id) ?? []).map(({ replay }) => replay),
      formats: formats.get(webhook_id) ?? [],
    }
  })
}

/** Both ends of a replay are positions, because times in a log never decrease. */
async function openReplays(db: App['db'], team_id: string) {
  const opened: { webhook_id: string; replay: Replay }[] = []
  for (const row of await store.listRunningReplays(db, team_id)) {
    const start = await findLastBefore(db, team_id, row.window_from)
    const end = await findLastBefore(db, team_id, row.window_to)
    opened.push({ webhook_id: row.webhook_id, replay: newReplay(row, start, end.no < start.no ? start : end) })
  }
  return opened
}

/** Those of the users whose keys are gone. */
export async function findErased({ db }: App, team_id: string, user_ids: string[]) {
  if (!user_ids.length) return new Set<string>()
  const kept = new Set(await store.listUsersWithKey(db, team_id, user_ids))
  return new Set(user_ids.filter((user_id) => !kept.has(user_id)))
}
