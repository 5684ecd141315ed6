import { type App, inTransaction } from '../../platform/app.ts'
import { setupProblem } from '../../platform/problem.ts'
import type { KeyEncryptionKey } from '../../platform/sealing/key-encryption.ts'
import { wrapRoot } from '../../platform/sealing/roots.ts'
import { listRoots, rewrapRoot } from '../../platform/sealing/store.ts'
import { auditRow, recordChange } from '../../tenants/audit/actions.ts'

/** The key-encryption keys by the beginning of their names. */
const kinds = { key: 'ENCRYPTION_KEY ', command: 'ENCRYPTION_KEY_COMMAND', vault: 'VAULT_TRANSIT_KEY ' }

export type KeyKind = keyof typeof kinds

/**
 * Encrypts all versions of the root with a key-encryption key of the settings, in one transaction. Running processes have the
 * root in memory, so they are not affected.
 */
export async function rotateEncryption(app: App, kind: KeyKind | undefined) {
  const by = chooseKey(app, kind)
  const stored = new Map((await listRoots(app.db)).map(({ version, wrapped }) => [version, wrapped]))
  const rewrapped = await Promise.all(app.vault.roots.map(async (root) => ({ root, wrapped: await wrapRoot(by, root.key) })))
  await inTransaction(app, async (app) => {
    for (const { root, wrapped } of rewrapped) {
      const before = stored.get(root.version)
      const change = { version: root.version, wrapped, wrapped_by: by.name }
      if (!before || !(await rewrapRoot(app.db, before, change))) throw setupProblem('Another command rotates the keys; run this one again')
    }
    const entry = { action: 'operator rotate encryption key', subject: `key:${by.name}`, status: 200 }
    await recordChange(app, auditRow(app, { kind: 'operator' }, entry))
  })
  return { versions: rewrapped.length, encrypted_with: by.name }
}

function chooseKey({ vault: { keyEncryption } }: App, kind: KeyKind | undefined): KeyEncryptionKey {
  if (!kind) return keyEncryption.keys[0]
  const key = keyEncryption.keys.find(({ name }) => name.startsWith(kinds[kind]))
  if (!key)
    throw setupProblem(`${kinds[kind].trim()} is not set; set it, and keep the settings of the current key until this command has run`)
  return key
}
