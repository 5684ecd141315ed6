import type { App } from '../app.ts'
import type { Db } from '../db/open.ts'
import { HOUR, later, SECOND } from '../time.ts'
import { type EpochKeys, forgetEpochs, newEpochKeys, openEpochs } from './epochs/keys.ts'
import type { KeyEncryption } from './key-encryption.ts'
import { packRing, unpackRing } from './rings/ring.ts'
import { currentRoot, loadRoots, type Root } from './roots.ts'
import { derive, keyIdOf, newKey, openBytes, type SealingKey, sealBytes, sealingKey, uuidOf } from './seal.ts'
import * as store from './store.ts'

/** The versions of the root secret, oldest first, and the team keys unwrapped a short time ago. */
export type Vault = {
  keyEncryption: KeyEncryption
  roots: Root[]
  /** The newest active version, which encrypts and signs. */
  readonly root: SealingKey
  teams: Map<string, { key: SealingKey; until: string }>
  epochs: EpochKeys
}

/** A vault. Without `roots` it is not open yet. */
export const newVault = (keyEncryption: KeyEncryption, roots: Root[] = []): Vault => ({
  keyEncryption,
  roots,
  get root() {
    return currentRoot(this.roots).key
  },
  teams: new Map(),
  epochs: newEpochKeys(keyEncryption.keyStore),
})

type WrappedKey = { id: string; wrapped: Buffer }

/** The owner is part of the associated data, so a key moved to another user's row does not unwrap. */
type Owner = { team_id: string; user_id?: string }

const textOf = ({ team_id, user_id = '' }: Owner) => `${team_id}${user_id}`

const associatedData = ({ team_id, user_id = 'team' }: Owner, id: string) => `sealing_keys.wrapped.${team_id}.${user_id}.${id}`

/** A new key of a team or a user: in plaintext for this transaction, and wrapped for its row. */
export function newSealingKey(by: SealingKey, owner: Owner) {
  const key = newKey(textOf(owner))
  return { key, row: { id: key.id, wrapped: wrap(by, owner, key) } }
}

/** Wraps a key of a user with the epoch of the team if there is one, else with the team's key. */
export const wrap = (by: SealingKey, owner: Owner, key: SealingKey) =>
  sealBytes(by.wrapsWith ?? by, associatedData(owner, key.id), packRing(key))

export const unwrap = (by: SealingKey, owner: Owner, { id, wrapped }: WrappedKey) =>
  unpackRing(id, openBytes(by, associatedData(owner, id), wrapped), textOf(owner))

/** A process notices a new key of a team this late. Rotations wait longer before they use it. */
const TEAM_KEY_MS = 30 * SECOND

/** The team's key. It is cached for a short time, except inside a transaction, which may still roll back the team. */
export async function teamSealingKey({ vault, db, transaction, wall }: App, team_id: string): Promise<SealingKey> {
  const now = wall()
  const cached = vault.teams.get(team_id)
  if (cached && cached.until > now) return cached.key
  const [row, ...rows] = await store.listTeamSealingKeys(db, team_id)
  if (!row) throw new Error('The team has no key')
  const alone = unwrap(await rootOf(db, vault, row.wrapped), { team_id }, row)
  const key = row.epoch_id ? { ...alone, ...(await openEpochs(vault.epochs, alone, { team_id, now }, [row, ...rows])) } : alone
  if (!transaction) vault.teams.set(team_id, { key, until: later(now, TEAM_KEY_MS) })
  return key
}

/** Forgets keys of teams that were not used for a while, so that memory holds no key much longer than the database. */
export async function forgetIdleKeys({ vault, wall }: Pick<App, 'vault' | 'wall'>) {
  const now = wall()
  for (const [team_id, { until }] of vault.teams) if (until < now) vault.teams.delete(team_id)
  forgetEpochs(vault.epochs, later(now, -HOUR))
}

/** The version of the root that encrypted a key. A version that this process does not know yet is loaded. */
export async function rootOf(db: Db, vault: Vault, wrapped: Buffer) {
  const id = keyIdOf(wrapped)
  const find = () => vault.roots.find(({ key }) => key.id === id)?.key
  if (!find()) await loadRoots(db, vault)
  const root = find()
  if (!root) throw new Error(`The key is encrypted with an unknown root (${id})`)
  return root
}

/** Encrypts keys of teams with the current version of the root, up to a batch, and returns how many there were. */
export async function rewrapTeamKeys({ db, vault }: Pick<App, 'db' | 'vault'>, limit: number) {
  const rows = await store.listTeamKeysOfOthers(db, vault.root.idBytes, limit)
  for (const row of rows) {
    const owner = { team_id: row.team_id }
    const key = unwrap(await rootOf(db, vault, row.wrapped), owner, row)
    await store.rewrapKey(db, row, wrap(vault.root, owner, key))
  }
  return rows.length
}

/**
 * The key for an organization's own staff, as opposed to its end users. It derives from the current version of the root, or
 * from the one that encrypted `sealed`.
 */
export function orgSealingKey({ vault }: Pick<App, 'vault'>, org_id: string, sealed?: Buffer) {
  if (!sealed) return orgKeyOf(currentRoot(vault.roots), org_id)
  const id = keyIdOf(sealed)
  const keys = vault.roots.map((root) => orgKeyOf(root, org_id))
  return keys.find((key) => key.id === id) ?? orgKeyOf(currentRoot(vault.roots), org_id)
}

/** The ID of the first version's key is the organization's, because it had no versions once. */
const orgKeyOf = ({ version, key }: Root, org_id: string) =>
  sealingKey(version === 1 ? org_id : uuidOf(derive(key, `people of ${org_id}, ID`).subarray(0, 16)), derive(key, `people of ${org_id}`))

/**
 * The key for data of the deployment that belongs to no team. It derives from the current version of the root, or from the one that
 * encrypted `sealed`.
 */
export function deploymentSealingKey({ vault }: Pick<App, 'vault'>, purpose: string, sealed?: Buffer) {
  const keyOf = ({ key }: Root) => sealingKey(uuidOf(derive(key, `${purpose}, ID`).subarray(0, 16)), derive(key, purpose))
  const id = sealed && keyIdOf(sealed)
  return vault.roots.map(keyOf).find((key) => key.id === id) ?? keyOf(currentRoot(vault.roots))
}

/** The user's key, or undefined once the user is erased. It is never cached, so erasure takes effect at once on every replica. */
export async function userSealingKey(app: App, team_id: string, user_id: string) {
  const row = await store.findUserSealingKey(app.db, team_id, user_id)
  return row && unwrap(await teamSealingKey(app, team_id), { team_id, user_id }, row)
}
