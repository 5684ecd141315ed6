import type { App } from '../../platform/app.ts'
import { deriveSecret, type SealingKey } from '../../platform/sealing/seal.ts'
import type { AuditKeys } from './rules.ts'

const keyFrom = (root: SealingKey) => deriveSecret(root, 'audit chain')

/** The key of every new MAC and hash of the audit log. It derives from the root secret, and the database never sees it. */
export const auditKey = ({ vault }: Pick<App, 'vault'>) => keyFrom(vault.root)

/** The key, with the keys of earlier versions of the root. */
export const auditKeys = ({ vault }: Pick<App, 'vault'>): AuditKeys => ({
  current: keyFrom(vault.root),
  live: vault.roots.filter(({ isEnded }) => !isEnded).map(({ key }) => keyFrom(key)),
  all: vault.roots.map(({ key }) => keyFrom(key)),
})
