import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { setupProblem } from './problem.ts'

/** Creates the folder, or fails early if it cannot be used. */
export const makePrivateFolder = (folder: string) =>
  named(folder, () => {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
  })

/** The content of a file, or undefined if the file does not exist. */
export const readPrivate = (path: string) =>
  named(dirname(path), () => {
    try {
      return fs.readFileSync(path, 'utf8')
    } catch (error) {
      return unless(error, 'ENOENT')
    }
  })

const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = fs.constants

/**
 * Opens a file that only its owner can read. A file created by root belongs to the folder's owner, who may run without root later.
 * A link left there by that owner must not make root give away another file.
 */
export function openPrivate(path: string) {
  const fd = fs.openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
  if (fs.fstatSync(fd).nlink > 1) throw setupProblem(`${path} has more than one hard link: remove it and start again.`)
  const folder = fs.statSync(dirname(path))
  if (process.getuid?.() === 0 && folder.uid !== 0) fs.fchownSync(fd, folder.uid, folder.gid)
  return fd
}

/** Replaces a file atomically: a reader sees the old content or the new, even after a power failure. */
export const writePrivate = (path: string, content: string) => named(dirname(path), () => replace(path, content, fs.renameSync))

/** The same for a file that is created once. If two processes create it, the first wins and both read its content. */
export const makePrivate = (path: string, content: string) =>
  named(dirname(path), () => {
    replace(path, content, (made, path) => {
      try {
        fs.linkSync(made, path)
      } catch (error) {
        unless(error, 'EEXIST')
      }
      fs.rmSync(made)
    })
    return fs.readFileSync(path, 'utf8')
  })

function replace(path: string, content: string, into: (made: string, path: string) => void) {
  const made = `${path}.${randomBytes(6).toString('hex')}`
  const fd = openPrivate(made)
  fs.writeSync(fd, content)
  fs.fsyncSync(fd)
  fs.closeSync(fd)
  into(made, path)
  syncFolder(dirname(path))
}

/** A new file name is durable only after its folder is synced. */
export function syncFolder(folder: string) {
  const fd = fs.openSync(folder, 'r')
  fs.fsyncSync(fd)
  fs.closeSync(fd)
}

function unless(error: unknown, code: string): undefined {
  if ((error as NodeJS.ErrnoException).code !== code) throw error
}

/** Turns a file system error into one line for the operator. */
function named<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).syscall) throw error
    throw setupProblem(`DATA_DIR ${folder} cannot be used: ${(error as Error).message}`)
  }
}
