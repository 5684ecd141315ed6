import type { Service } from '../../platform/app.ts'
import { type KeyTable, keyTables } from '../../platform/last-uses.ts'
import { MINUTE } from '../../platform/time.ts'
import * as store from './store.ts'

type UsedKey = { key_id: string; team_id?: string; last_used_at: string | null }

export function recordUse({ lastUses, wall }: Service, table: KeyTable, { key_id, team_id, last_used_at }: UsedKey) {
  const at = wall()
  if (!last_used_at || Date.parse(at) - Date.parse(last_used_at) >= MINUTE) lastUses[table].set(key_id, { at, team_id })
}

export async function flushLastUses({ db, lastUses }: Service) {
  for (const table of keyTables) {
    const uses = Map.groupBy(lastUses[table], ([, { team_id }]) => team_id)
    lastUses[table].clear()
    for (const [team_id, ofTeam] of uses)
      await store.touchKeys(
        db,
        table,
        team_id,
        ofTeam.map(([id, { at }]) => [id, at]),
      )
  }
}
