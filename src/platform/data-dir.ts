import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { createPrivate, readPrivate } from './private-files.ts'
import { setupProblem } from './problem.ts'

export const inDataDir = ({ DATA_DIR }: Config, name: string) => join(DATA_DIR, name)

/**
 * The key-encryption key: from the settings, or created once for the embedded sandbox and stored before anything is encrypted with it.
 * `mustExist`: the database holds data that only the key of its first start decrypts.
 */
export function encryptionKey(config: Config, mustExist: boolean) {
  if (config.ENCRYPTION_KEY) return config.ENCRYPTION_KEY
  const path = inDataDir(config, 'encryption.key')
  const stored = readPrivate(path) ?? (mustExist ? '' : createPrivate(path, `${randomBytes(32).toString('base64')}\n`))
  if (!stored.trim()) throw setupProblem(`encryption.key in DATA_DIR ${config.DATA_DIR} is missing or empty: restore it from a backup`)
  return stored.trim()
}
