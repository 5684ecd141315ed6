import type { App } from '../../platform/app.ts'
import { deriveSecret } from '../../platform/sealing/seal.ts'

/** The key of every MAC and hash of the audit log. It comes from ENCRYPTION_KEY, and the database never sees it. */
export const auditKey = ({ vault }: Pick<App, 'vault'>) => deriveSecret(vault.root, 'audit chain')
