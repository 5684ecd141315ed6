import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { createPrivate, readPrivate } from './private-files.ts'
import { setupProblem } from './problem.ts'

export const inDataDir = ({ DATA_DIR }: Config, name: string) => join(DATA_DIR, name)

type Options = {
  /** The database holds data that only an existing key decrypts. */
  mustExist: boolean
  /** A key management service is set, so a missing key is neither generated nor required. */
  isOptional: boolean
}

/** ENCRYPTION_KEY: from the settings, or created once for the embedded sandbox and stored before anything is encrypted with it. */
export function findEncryptionKey(config: Config, { mustExist, isOptional }: Options) {
  if (config.ENCRYPTION_KEY) return config.ENCRYPTION_KEY
  const path = inDataDir(config, 'encryption.key')
  const stored = readPrivate(path) ?? (mustExist || isOptional ? '' : createPrivate(path, `${randomBytes(32).toString('base64')}\n`))
  if (stored.trim()) return stored.trim()
  if (isOptional) return undefined
  throw setupProblem(`encryption.key in DATA_DIR ${config.DATA_DIR} is missing or empty: restore it from a backup`)
}
