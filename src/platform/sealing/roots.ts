import type { Db } from '../db/open.ts'
import { setupProblem } from '../problem.ts'
import { type KeyEncryption, type KeyEncryptionKey, rootFromText } from './key-encryption.ts'
import { derive, newKey, type SealingKey, sealingKey } from './seal.ts'
import * as store from './store.ts'
import type { Vault } from './vault.ts'

/** A version of the root secret. */
export type Root = { version: number; key: SealingKey; wrappedBy: string; isActive: boolean; isRetired: boolean }

/** A version as it is stored. */
export type WrappedRoot = { version: number; id: string; wrapped: Buffer; wrapped_by: string; active: boolean; retired: boolean }

export function currentRoot(roots: Root[]): SealingKey {
  const current = roots.findLast(({ isActive }) => isActive)
  if (!current) throw new Error('The vault is not open')
  return current.key
}

/** The first version. It identifies the deployment, and never changes. */
export function firstRoot({ roots }: Vault): SealingKey {
  if (!roots[0]) throw new Error('The vault is not open')
  return roots[0].key
}

/** A value that only the key of this deployment yields. */
export const checkValue = (root: SealingKey) => derive(root, 'check value')

/** Loads the versions that the database has, and returns whether it has any. */
export async function loadRoots(db: Db, vault: Vault) {
  vault.roots = await unwrapRoots(vault.keyEncryption, await store.listRoots(db), 'database')
  return vault.roots.length > 0
}

export const unwrapRoots = (keyEncryption: KeyEncryption, rows: WrappedRoot[], subject: string): Promise<Root[]> =>
  Promise.all(
    rows.map(async ({ version, id, wrapped, wrapped_by, active, retired }) => {
      const key = keyEncryption.keys.find(({ name }) => name === wrapped_by)
      if (!key) throw otherKey(subject, wrapped_by)
      return { version, key: sealingKey(id, await key.unwrap(id, wrapped)), wrappedBy: wrapped_by, isActive: active, isRetired: retired }
    }),
  )

/**
 * The first version for a database that has none: a random one, or, if the database was set up before the root had versions,
 * the one that its earlier processes derive. `key_check` is the check value of such a database.
 */
export async function newFirstRoot(keyEncryption: KeyEncryption, key_check: Buffer | undefined) {
  const key = key_check ? keyEncryption.texts.map(rootFromText).find((root) => checkValue(root).equals(key_check)) : newKey()
  if (!key) throw otherKey('database')
  const [by] = keyEncryption.keys
  const root: Root = { version: 1, key, wrappedBy: by.name, isActive: true, isRetired: false }
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
