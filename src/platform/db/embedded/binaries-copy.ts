import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { restoreLinks } from './links.ts'

/** Another account needs a folder that it can reach; /var/cache comes first because nothing cleans it up. */
export const cacheFolders = (account: Account, dataDir: string) => (account ? ['/var/cache', tmpdir(), '/tmp'] : [dataDir])

/** Copies the package's binaries so that no other account can change them. Returns undefined if the folder does not allow that. */
export function copyBinaries(packageDir: string, folder: string): string | undefined {
  try {
    if (!isSafeFolder(folder)) return undefined
    const { version } = JSON.parse(fs.readFileSync(join(packageDir, 'package.json'), 'utf8'))
    const copy = join(folder, `assay-postgres-${version}`)
    if (!isIntact(packageDir, copy)) replace(packageDir, copy)
    return isIntact(packageDir, copy) ? copy : undefined
  } catch {
    return undefined
  }
}

/** Other accounts must not be able to replace files in the folder. */
function isSafeFolder(folder: string) {
  const { uid, mode } = fs.statSync(folder)
  return (uid === 0 || uid === process.getuid?.()) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0)
}

/** Checks that every file exists with the right size and only this account can write it. The root folder protects its content. */
function isIntact(packageDir: string, copy: string) {
  const root = fs.lstatSync(copy, { throwIfNoEntry: false })
  if (!root?.isDirectory() || !isOurs(root)) return false
  return (
    fs.readdirSync(join(packageDir, 'native'), { recursive: true, withFileTypes: true }).every((entry) => {
      if (entry.isSymbolicLink()) return true
      const original = join(entry.parentPath, entry.name)
      const copied = fs.lstatSync(join(copy, original.slice(packageDir.length)), { throwIfNoEntry: false })
      return copied !== undefined && isOurs(copied) && (entry.isDirectory() || copied.size === fs.statSync(original).size)
    }) && restoreLinks(copy)
  )
}

const isOurs = ({ uid, mode }: fs.Stats) => uid === process.getuid?.() && (mode & 0o022) === 0

/** Fills a temporary folder and renames it, so the copy is always complete. */
function replace(packageDir: string, copy: string) {
  const fresh = fs.mkdtempSync(`${copy}-`)
  try {
    fs.cpSync(join(packageDir, 'native'), join(fresh, 'native'), { recursive: true, verbatimSymlinks: true })
    restoreLinks(fresh)
    makeReadable(fresh)
    const old = fs.lstatSync(copy, { throwIfNoEntry: false })
    if (old && isOurs(old)) fs.renameSync(copy, `${fresh}-old`)
    fs.renameSync(fresh, copy)
  } finally {
    for (const leftover of [fresh, `${fresh}-old`]) fs.rmSync(leftover, { recursive: true, force: true })
  }
}

/** The server's account must be able to read the copy, even if the package was installed with umask 077. */
function makeReadable(folder: string) {
  fs.chmodSync(folder, 0o755)
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isSymbolicLink()) continue
    const isExecutable = entry.isDirectory() || (fs.statSync(path).mode & 0o100) !== 0
    fs.chmodSync(path, isExecutable ? 0o755 : 0o644)
  }
}
