import { createHash, hkdfSync } from 'node:crypto'
import type { App } from '../app.ts'
import { newKey, openBytes, type SealingKey, sealBytes } from './seal.ts'

/** Holds the key-encryption key and the team keys it has unwrapped. */
export type Vault = { root: SealingKey; teams: Map<string, SealingKey> }

export function openVault(encryptionKey: string): Vault {
  const bytes = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'assay key-encryption key', 32))
  const hex = createHash('sha256').update('assay key id').update(bytes).digest('hex')
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
  return { root: { id, bytes }, teams: new Map() }
}

export type WrappedKey = { id: string; wrapped: Buffer }

const wrap = (by: SealingKey, key: SealingKey): WrappedKey => ({ id: key.id, wrapped: sealBytes(by, place(key.id), key.bytes) })
export const unwrap = (by: SealingKey, { id, wrapped }: WrappedKey): SealingKey => ({ id, bytes: openBytes(by, place(id), wrapped) })
const place = (id: string) => `sealing_keys.wrapped.${id}`

export const newTeamKey = (vault: Vault) => wrap(vault.root, newKey())

/** A new user's key, in clear for this transaction and wrapped for its row. */
export function newUserKey(team: SealingKey) {
  const key = newKey()
  return { key, row: wrap(team, key) }
}

/**
 * The team's key. It never changes, so it is kept once it was read;
 * not inside a transaction, which may yet roll back the team that it made.
 */
export async function teamKey({ vault, db, transaction }: App, team_id: string): Promise<SealingKey> {
  const known = vault.teams.get(team_id)
  if (known) return known
  const row = await db
    .selectFrom('sealing_keys')
    .select(['id', 'wrapped'])
    .where('team_id', '=', team_id)
    .where('user_id', 'is', null)
    .executeTakeFirstOrThrow()
  const key = unwrap(vault.root, row)
  if (!transaction) vault.teams.set(team_id, key)
  return key
}

/** The user's key, or undefined once the user was erased. Never kept: erasing must hold at once, everywhere. */
export async function userKey(app: App, team_id: string, user_id: string) {
  const row = await app.db
    .selectFrom('sealing_keys')
    .select(['id', 'wrapped'])
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  return row && unwrap(await teamKey(app, team_id), row)
}
