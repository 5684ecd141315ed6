import type { Db } from '../db/open.ts'
import { Problem, setupProblem } from '../problem.ts'
import type { KeyEncryption, KeyEncryptionKey } from './key-encryption.ts'
import { derive, newKey, type SealingKey, sealingKey } from './seal.ts'
import * as store from './store.ts'
import type { Vault } from './vault.ts'

/** A version of the root secret. */
export type Root = { version: number; key: SealingKey; wrappedBy: string; isActive: boolean; isRetired: boolean; isEnded: boolean }

/** A version as it is stored. */
export type WrappedRoot = {
  version: number
  id: string
  wrapped: Buffer
  wrapped_by: string
  active: boolean
  retired: boolean
  ended: boolean
}

export function currentRoot(roots: Root[]): Root {
  const current = roots.findLast(({ isActive }) => isActive)
  if (!current) throw new Error('The vault is not open')
  return current
}

/** The first version. It identifies the deployment, and never changes. */
export function firstRoot({ roots }: Vault): SealingKey {
  if (!roots[0]) throw new Error('The vault is not open')
  return roots[0].key
}

/** A value that only the key of this deployment yields. */
export const checkValue = (root: SealingKey) => derive(root, 'check value')

/** Loads the versions that the database has, and returns whether it has any. Those that are loaded are not decrypted again. */
export async function loadRoots(db: Db, vault: Vault) {
  const rows = await store.listRoots(db)
  const loaded = new Map(vault.roots.map((root) => [root.key.id, root]))
  const added = await unwrapRoots(
    vault.keyEncryption,
    rows.filter(({ id }) => !loaded.has(id)),
    'database',
  )
  const keys = new Map([...vault.roots, ...added].map(({ key }) => [key.id, key]))
  vault.roots = rows.map((row) => rootFrom(row, keys.get(row.id) as SealingKey))
  return vault.roots.length > 0
}

/** A number that grows when a version is added and again when it is active, so that processes can report what they loaded. */
export function epochOf(roots: { version: number; isActive: boolean }[]) {
  const newest = roots.at(-1)
  return newest ? 2 * newest.version - (newest.isActive ? 0 : 1) : 0
}

/** Adds a version that is not active yet. */
export async function addRoot(db: Db, vault: Vault) {
  const key = newKey()
  const [by] = vault.keyEncryption.keys
  const version = (vault.roots.at(-1)?.version ?? 0) + 1
  await store.insertRoot(db, { version, id: key.id, wrapped: await wrapRoot(by, key), wrapped_by: by.name })
  await loadRoots(db, vault)
}

/** From now on processes encrypt with the newest version, as soon as they have noticed. */
export async function activateRoot(db: Db, vault: Vault) {
  await store.activateRoots(db)
  await loadRoots(db, vault)
}

/** Nothing uses the earlier versions anymore, except what cannot be encrypted again. */
export async function retireRoots(db: Db, vault: Vault) {
  await store.retireRoots(db, vault.roots.at(-1)?.version ?? 0)
  await loadRoots(db, vault)
}

export const unwrapRoots = (keyEncryption: KeyEncryption, rows: WrappedRoot[], subject: string): Promise<Root[]> =>
  Promise.all(
    rows.map(async ({ id, wrapped, ...row }) => {
      const key = keyEncryption.keys.find(({ name }) => name === row.wrapped_by)
      if (!key) throw otherKey(subject, row.wrapped_by)
      return rootFrom(row, sealingKey(id, await unwrap(key, id, wrapped, subject)))
    }),
  )

const rootFrom = ({ version, wrapped_by, active, retired, ended }: Omit<WrappedRoot, 'id' | 'wrapped'>, key: SealingKey): Root => ({
  ...{ version, key, wrappedBy: wrapped_by, isActive: active, isRetired: retired, isEnded: ended },
})

const unwrap = (by: KeyEncryptionKey, id: string, wrapped: Buffer, subject: string) =>
  by.unwrap(id, wrapped).catch((error) => {
    throw error instanceof Problem ? error : setupProblem(`The root secret of this ${subject} was changed; use another backup`)
  })

/** The first version, for a database that has none. */
export async function newFirstRoot(keyEncryption: KeyEncryption) {
  const key = newKey()
  const [by] = keyEncryption.keys
  const root: Root = { version: 1, key, wrappedBy: by.name, isActive: true, isRetired: false, isEnded: false }
  return { root, row: { version: 1, id: key.id, wrapped: await wrapRoot(by, key), wrapped_by: by.name } }
}

/** Encrypts a version, and checks that it can be decrypted, because the stored one may be the only copy. */
export async function wrapRoot(by: KeyEncryptionKey, { id, bytes }: SealingKey) {
  const wrapped = await by.wrap(id, bytes)
  if (!(await by.unwrap(id, wrapped)).equals(bytes)) throw setupProblem(`${by.name} does not decrypt what it encrypts; check it`)
  return wrapped
}

/** Stores the first version. Returns false if another process was faster. */
export async function saveFirstRoot(db: Db, vault: Vault, { root, row }: Awaited<ReturnType<typeof newFirstRoot>>) {
  if (!(await store.insertFirstRoot(db, row))) return false
  vault.roots = [root]
  return true
}

function otherKey(subject: string, wrappedBy = ENCRYPTION_KEY) {
  if (wrappedBy.startsWith(ENCRYPTION_KEY))
    return setupProblem(
      `ENCRYPTION_KEY is not the key that encrypted this ${subject}; use that key, or set ENCRYPTION_KEY_PREVIOUS to it if it was replaced`,
    )
  return setupProblem(`This ${subject} is encrypted with ${wrappedBy}, which is not set; set it again`)
}

const ENCRYPTION_KEY = 'ENCRYPTION_KEY '
