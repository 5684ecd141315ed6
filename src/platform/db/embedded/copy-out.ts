import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { restoreLinks } from './links.ts'

/** Where a copy of the binaries may live: our own folder, or for another account one that it can reach and tmp cleaners spare. */
export const cacheFolders = (account: Account, dataDir: string) => (account ? ['/var/cache', tmpdir(), '/tmp'] : [dataDir])

/** A copy of the package's binaries that nobody but us can have written; undefined when this place offers none. */
export function copyOut(packageDir: string, place: string): string | undefined {
  try {
    if (!isSafePlace(place)) return undefined
    const { version } = JSON.parse(fs.readFileSync(join(packageDir, 'package.json'), 'utf8'))
    const copy = join(place, `assay-postgres-${version}`)
    if (!isFaithful(packageDir, copy)) replace(packageDir, copy)
    return isFaithful(packageDir, copy) ? copy : undefined
  } catch {
    return undefined
  }
}

/** Others must not be able to exchange what we put here. */
function isSafePlace(place: string) {
  const { uid, mode } = fs.statSync(place)
  return (uid === 0 || uid === process.getuid?.()) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0)
}

/** Every file is there, of the right size, ours, and writable by us only. The outermost folder guards what is in it. */
function isFaithful(packageDir: string, copy: string) {
  const guard = fs.lstatSync(copy, { throwIfNoEntry: false })
  if (!guard?.isDirectory() || !isOurs(guard)) return false
  return (
    fs.readdirSync(join(packageDir, 'native'), { recursive: true, withFileTypes: true }).every((entry) => {
      if (entry.isSymbolicLink()) return true
      const original = join(entry.parentPath, entry.name)
      const twin = fs.lstatSync(join(copy, original.slice(packageDir.length)), { throwIfNoEntry: false })
      return twin !== undefined && isOurs(twin) && (entry.isDirectory() || twin.size === fs.statSync(original).size)
    }) && restoreLinks(copy)
  )
}

const isOurs = ({ uid, mode }: fs.Stats) => uid === process.getuid?.() && (mode & 0o022) === 0

/** Fills a folder with a random name, then renames it, so that a copy under the known name is always whole. */
function replace(packageDir: string, copy: string) {
  const fresh = fs.mkdtempSync(`${copy}-`)
  try {
    fs.cpSync(join(packageDir, 'native'), join(fresh, 'native'), { recursive: true, verbatimSymlinks: true })
    restoreLinks(fresh)
    openToReaders(fresh)
    const old = fs.lstatSync(copy, { throwIfNoEntry: false })
    if (old && isOurs(old)) fs.renameSync(copy, `${fresh}-old`)
    fs.renameSync(fresh, copy)
  } finally {
    for (const rest of [fresh, `${fresh}-old`]) fs.rmSync(rest, { recursive: true, force: true })
  }
}

/** The account that runs the server only reads; an install made under umask 077 would keep it out. */
function openToReaders(folder: string) {
  fs.chmodSync(folder, 0o755)
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isSymbolicLink()) continue
    const runs = entry.isDirectory() || (fs.statSync(path).mode & 0o100) !== 0
    fs.chmodSync(path, runs ? 0o755 : 0o644)
  }
}
