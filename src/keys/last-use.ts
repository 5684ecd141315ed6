import { type App, MINUTE } from '../app.ts'
import * as store from './store.ts'

type KeyTable = 'team_api_keys' | 'management_keys'

/** Last uses wait here for the next flush: a write for each request would cost more than the request. */
const waiting: Record<KeyTable, Map<string, string>> = { team_api_keys: new Map(), management_keys: new Map() }

export function noteUse(table: KeyTable, id: string, recorded: string | null, now: string) {
  if (!recorded || Date.parse(now) - Date.parse(recorded) >= MINUTE) waiting[table].set(id, now)
}

export async function flushLastUses(app: App) {
  for (const table of ['team_api_keys', 'management_keys'] as const) {
    const uses = [...waiting[table]]
    waiting[table].clear()
    if (uses.length) await store.touchKeys(app.db, table, uses)
  }
}
