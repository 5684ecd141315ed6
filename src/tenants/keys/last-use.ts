import { type App, MINUTE } from '../../platform/app.ts'
import * as store from './store.ts'

const tables = ['team_api_keys', 'management_keys', 'lab_keys'] as const

type KeyTable = (typeof tables)[number]

/** Last uses wait here for the next flush: a write for each request would cost more than the request. */
export type LastUses = Record<KeyTable, Map<string, string>>

export const noLastUses = (): LastUses => ({ team_api_keys: new Map(), management_keys: new Map(), lab_keys: new Map() })

export function noteUse({ lastUses, wall }: App, table: KeyTable, id: string, recorded: string | null) {
  const now = wall()
  if (!recorded || Date.parse(now) - Date.parse(recorded) >= MINUTE) lastUses[table].set(id, now)
}

export async function flushLastUses({ db, lastUses }: App) {
  for (const table of tables) {
    const uses = [...lastUses[table]]
    lastUses[table].clear()
    if (uses.length) await store.touchKeys(db, table, uses)
  }
}
