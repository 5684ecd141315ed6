import type { App } from '../app.ts'
import type { KeyEncryption } from './key-encryption.ts'
import { currentRoot, type Root } from './roots.ts'
import { derive, keyIdOf, newKey, openBytes, type SealingKey, sealBytes, sealingKey } from './seal.ts'
import * as store from './store.ts'

/** The versions of the root secret, oldest first, and the team keys unwrapped so far. */
export type Vault = {
  keyEncryption: KeyEncryption
  roots: Root[]
  /** The newest active version, which encrypts and signs. */
  readonly root: SealingKey
  teams: Map<string, SealingKey>
}

/** A vault. Without `roots` it is not open yet. */
export const newVault = (keyEncryption: KeyEncryption, roots: Root[] = []): Vault => ({
  keyEncryption,
  roots,
  get root() {
    return currentRoot(this.roots)
  },
  teams: new Map(),
})

type WrappedKey = { id: string; wrapped: Buffer }

/** The owner is part of the associated data, so a key moved to another user's row does not unwrap. */
type Owner = { team_id: string; user_id?: string }

const textOf = ({ team_id, user_id = '' }: Owner) => `${team_id}${user_id}`

const associatedData = ({ team_id, user_id = 'team' }: Owner, id: string) => `sealing_keys.wrapped.${team_id}.${user_id}.${id}`

/** A new key of a team or a user: in plaintext for this transaction, and wrapped for its row. */
export function newSealingKey(by: SealingKey, owner: Owner) {
  const key = newKey(textOf(owner))
  return { key, row: { id: key.id, wrapped: sealBytes(by, associatedData(owner, key.id), key.bytes) } }
}

export const unwrap = (by: SealingKey, owner: Owner, { id, wrapped }: WrappedKey) =>
  sealingKey(id, openBytes(by, associatedData(owner, id), wrapped), textOf(owner))

/**
 * The team's key. It never changes, so it is cached after the first read,
 * except inside a transaction, which may still roll back the team.
 */
export async function teamSealingKey({ vault, db, transaction }: App, team_id: string): Promise<SealingKey> {
  const cached = vault.teams.get(team_id)
  if (cached) return cached
  const row = await store.getTeamSealingKey(db, team_id)
  const key = unwrap(rootOf(vault, row.wrapped), { team_id }, row)
  if (!transaction) vault.teams.set(team_id, key)
  return key
}

/** The version of the root that encrypted a key. */
function rootOf({ roots }: Vault, wrapped: Buffer) {
  const id = keyIdOf(wrapped)
  const root = roots.find(({ key }) => key.id === id)
  if (!root) throw new Error(`The key is encrypted with an unknown root (${id})`)
  return root.key
}

/** The key for an organization's own staff, as opposed to its end users. */
export const orgSealingKey = ({ vault }: App, org_id: string) => sealingKey(org_id, derive(vault.root, `people of ${org_id}`))

/** The user's key, or undefined once the user is erased. It is never cached, so erasure takes effect at once on every replica. */
export async function userSealingKey(app: App, team_id: string, user_id: string) {
  const row = await store.findUserSealingKey(app.db, team_id, user_id)
  return row && unwrap(await teamSealingKey(app, team_id), { team_id, user_id }, row)
}
