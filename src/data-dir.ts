import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'

/** Reads a file of DATA_DIR; undefined when there is none. */
export async function readPrivate({ DATA_DIR }: Config, name: string) {
  return readFile(join(DATA_DIR, name), 'utf8').catch((error: { code?: string }) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

/** Writes a file that only its owner can read, whole or not at all. */
export async function writePrivate({ DATA_DIR }: Config, name: string, text: string) {
  await mkdir(DATA_DIR, { recursive: true, mode: 0o700 })
  const path = join(DATA_DIR, name)
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

/** The key-encryption key: from the settings, or made once for the embedded sandbox. */
export async function encryptionKey(config: Config) {
  if (config.ENCRYPTION_KEY) return config.ENCRYPTION_KEY
  const kept = (await readPrivate(config, 'encryption.key'))?.trim()
  if (kept) return kept
  const made = randomBytes(32).toString('base64')
  await writePrivate(config, 'encryption.key', `${made}\n`)
  return made
}
