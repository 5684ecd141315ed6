import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { setupProblem } from './problem.ts'

/** Makes DATA_DIR, or refuses one that cannot be written to before anything depends on it. */
export const openDataDir = ({ DATA_DIR }: Config) =>
  named(DATA_DIR, async () => {
    await fs.mkdir(DATA_DIR, { recursive: true, mode: 0o700 })
    await fs.access(DATA_DIR, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
  })

/** Reads a file of DATA_DIR; undefined when there is none. */
export const readPrivate = ({ DATA_DIR }: Config, name: string) =>
  named(DATA_DIR, () => fs.readFile(join(DATA_DIR, name), 'utf8').catch(unless('ENOENT')))

/** Writes a file that only its owner can read, whole or not at all. */
export const writePrivate = ({ DATA_DIR }: Config, name: string, text: string) =>
  named(DATA_DIR, async () => {
    await fs.rename(await writeBeside(DATA_DIR, name, text), join(DATA_DIR, name))
    await sync(DATA_DIR)
  })

/** The key-encryption key: from the settings, or made once for the embedded sandbox. */
export async function encryptionKey(config: Config) {
  if (config.ENCRYPTION_KEY) return config.ENCRYPTION_KEY
  const kept = (await readPrivate(config, KEY_FILE)) ?? (await makeKey(config))
  if (!kept?.trim()) throw setupProblem(`${KEY_FILE} in DATA_DIR ${config.DATA_DIR} is empty: bring it back from a backup`)
  return kept.trim()
}

const KEY_FILE = 'encryption.key'

/** Everything will be sealed by this key: it is on the disk before it is used, and of two processes that make one the first wins. */
const makeKey = (config: Config) =>
  named(config.DATA_DIR, async () => {
    const made = await writeBeside(config.DATA_DIR, KEY_FILE, `${randomBytes(32).toString('base64')}\n`)
    await fs.link(made, join(config.DATA_DIR, KEY_FILE)).catch(unless('EEXIST'))
    await fs.rm(made)
    await sync(config.DATA_DIR)
    return readPrivate(config, KEY_FILE)
  })

async function writeBeside(folder: string, name: string, text: string) {
  const path = join(folder, `${name}.${randomBytes(6).toString('hex')}`)
  await fs.mkdir(folder, { recursive: true, mode: 0o700 })
  await fs.writeFile(path, text, { mode: 0o600, flag: 'wx', flush: true })
  return path
}

async function sync(folder: string) {
  if (process.platform === 'win32') return
  const handle = await fs.open(folder)
  await handle.sync().finally(() => handle.close())
}

const unless = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error
  return undefined
}

/** What the file system refuses, in one line that names the setting. */
async function named<T>(folder: string, work: () => Promise<T>) {
  try {
    return await work()
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).syscall) throw error
    throw setupProblem(`DATA_DIR ${folder} cannot be used: ${(error as Error).message}`)
  }
}
