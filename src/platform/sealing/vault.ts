import { createHash, hkdfSync } from 'node:crypto'
import type { App } from '../app.ts'
import { derive, newKey, openBytes, type SealingKey, sealBytes, sealingKey, uuidOf } from './seal.ts'
import * as store from './store.ts'

/** Holds the key-encryption key and the teams' sealing keys that it has unwrapped. */
export type Vault = { root: SealingKey; teams: Map<string, SealingKey> }

export function openVault(encryptionKey: string): Vault {
  const bytes = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'assay key-encryption key', 32))
  const id = uuidOf(createHash('sha256').update('assay key id').update(bytes).digest().subarray(0, 16))
  return { root: sealingKey(id, bytes), teams: new Map() }
}

type WrappedKey = { id: string; wrapped: Buffer }

/** Whose key it is. A key that was moved to another user's row does not open. */
type Owner = { team_id: string; user_id?: string }

const place = ({ team_id, user_id = 'team' }: Owner, id: string) => `sealing_keys.wrapped.${team_id}.${user_id}.${id}`

/** A new key of a team or a user, in clear for this transaction and wrapped for its row. */
export function newSealingKey(by: SealingKey, owner: Owner) {
  const key = newKey()
  return { key, row: { id: key.id, wrapped: sealBytes(by, place(owner, key.id), key.bytes) } }
}

export const unwrap = (by: SealingKey, owner: Owner, { id, wrapped }: WrappedKey) =>
  sealingKey(id, openBytes(by, place(owner, id), wrapped))

/**
 * The team's key. It never changes, so it is kept once it was read;
 * not inside a transaction, which may yet roll back the team that it made.
 */
export async function teamSealingKey({ vault, db, transaction }: App, team_id: string): Promise<SealingKey> {
  const known = vault.teams.get(team_id)
  if (known) return known
  const key = unwrap(vault.root, { team_id }, await store.getTeamSealingKey(db, team_id))
  if (!transaction) vault.teams.set(team_id, key)
  return key
}

/** What is known of an organisation's own people: those who work there, not those whom it looks after. */
export const orgSealingKey = ({ vault }: App, org_id: string) => sealingKey(org_id, derive(vault.root, `people of ${org_id}`))

/** The user's key, or undefined once the user was erased. Never kept: erasing must hold at once, everywhere. */
export async function userSealingKey(app: App, team_id: string, user_id: string) {
  const row = await store.findUserSealingKey(app.db, team_id, user_id)
  return row && unwrap(await teamSealingKey(app, team_id), { team_id, user_id }, row)
}
