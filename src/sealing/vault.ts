import { createHash, hkdfSync } from 'node:crypto'
import type { App } from '../app.ts'
import { newKey, openBytes, type SealingKey, sealBytes, uuidOf } from './seal.ts'
import * as store from './store.ts'

/** Holds the key-encryption key and the teams' sealing keys that it has unwrapped. */
export type Vault = { root: SealingKey; teams: Map<string, SealingKey> }

export function openVault(encryptionKey: string): Vault {
  const bytes = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'assay key-encryption key', 32))
  const id = uuidOf(createHash('sha256').update('assay key id').update(bytes).digest().subarray(0, 16))
  return { root: { id, bytes }, teams: new Map() }
}

type WrappedKey = { id: string; wrapped: Buffer }

const wrap = (by: SealingKey, key: SealingKey): WrappedKey => ({ id: key.id, wrapped: sealBytes(by, place(key.id), key.bytes) })
export const unwrap = (by: SealingKey, { id, wrapped }: WrappedKey): SealingKey => ({ id, bytes: openBytes(by, place(id), wrapped) })
const place = (id: string) => `sealing_keys.wrapped.${id}`

/** A new key of a team or a user, in clear for this transaction and wrapped for its row. */
export function newSealingKey(by: SealingKey) {
  const key = newKey()
  return { key, row: wrap(by, key) }
}

/**
 * The team's key. It never changes, so it is kept once it was read;
 * not inside a transaction, which may yet roll back the team that it made.
 */
export async function teamSealingKey({ vault, db, transaction }: App, team_id: string): Promise<SealingKey> {
  const known = vault.teams.get(team_id)
  if (known) return known
  const key = unwrap(vault.root, await store.getTeamSealingKey(db, team_id))
  if (!transaction) vault.teams.set(team_id, key)
  return key
}

/** The user's key, or undefined once the user was erased. Never kept: erasing must hold at once, everywhere. */
export async function userSealingKey(app: App, team_id: string, user_id: string) {
  const row = await store.findUserSealingKey(app.db, team_id, user_id)
  return row && unwrap(await teamSealingKey(app, team_id), row)
}
