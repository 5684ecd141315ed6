import type { Service } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import { MINUTE } from '../../platform/time.ts'
import * as store from './store.ts'

type KeyTable = 'team_api_keys' | 'management_keys' | 'lab_keys'

/** A team API key has a team. Other keys belong to no team. */
type Use = { at: string; team_id: string | undefined }
type Uses = Map<string, Use>

/** The last use of each key since the last flush. A write per request would cost more than the request itself. */
const lastUses = declareCache((): Record<KeyTable, Uses> => ({ team_api_keys: new Map(), management_keys: new Map(), lab_keys: new Map() }))

type UsedKey = { key_id: string; team_id?: string; last_used_at: string | null }

export function recordUse(app: Service, table: KeyTable, { key_id, team_id, last_used_at }: UsedKey) {
  const at = app.wall()
  if (!last_used_at || Date.parse(at) - Date.parse(last_used_at) >= MINUTE) lastUses(app)[table].set(key_id, { at, team_id })
}

export async function flushLastUses(app: Service) {
  for (const [table, byKey] of Object.entries(lastUses(app)) as [KeyTable, Uses][]) {
    const uses = Map.groupBy(byKey, ([, { team_id }]) => team_id)
    byKey.clear()
    for (const [team_id, ofTeam] of uses)
      await store.touchKeys(
        app.db,
        table,
        team_id,
        ofTeam.map(([id, { at }]) => [id, at]),
      )
  }
}
