import type { Service } from '../../platform/app.ts'
import { type KeyTable, keyTables } from '../../platform/last-uses.ts'
import { MINUTE } from '../../platform/time.ts'
import * as store from './store.ts'

export function recordUse({ lastUses, wall }: Service, table: KeyTable, id: string, recorded: string | null) {
  const now = wall()
  if (!recorded || Date.parse(now) - Date.parse(recorded) >= MINUTE) lastUses[table].set(id, now)
}

export async function flushLastUses({ db, lastUses }: Service) {
  for (const table of keyTables) {
    const uses = [...lastUses[table]]
    lastUses[table].clear()
    if (uses.length) await store.touchKeys(db, table, uses)
  }
}
