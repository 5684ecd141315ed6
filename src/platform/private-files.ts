import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { setupProblem } from './problem.ts'

/** Makes the folder, or refuses one that cannot be used before anything depends on it. */
export const makePrivateFolder = (folder: string) =>
  named(folder, () => {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
  })

/** The content of a file; undefined when there is none. */
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
 * Opens a file that only its owner reads. What root makes belongs to the folder's owner, who may come back without root;
 * a link that such an owner left there must not make root give away another file.
 */
export function openPrivate(path: string) {
  const fd = fs.openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
  if (fs.fstatSync(fd).nlink > 1) throw setupProblem(`${path} is linked from elsewhere: remove it and start again.`)
  const folder = fs.statSync(dirname(path))
  if (process.getuid?.() === 0 && folder.uid !== 0) fs.fchownSync(fd, folder.uid, folder.gid)
  return fd
}

/** A reader sees the old content or the new, also after a power cut. */
export const writePrivate = (path: string, content: string) => named(dirname(path), () => replace(path, content, fs.renameSync))

/** The same for a file that is made once: of two that make it the first wins, and both read what it wrote. */
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

/** A new name is on the disk only once its folder is. */
export function syncFolder(folder: string) {
  const fd = fs.openSync(folder, 'r')
  fs.fsyncSync(fd)
  fs.closeSync(fd)
}

function unless(error: unknown, code: string): undefined {
  if ((error as NodeJS.ErrnoException).code !== code) throw error
}

/** What the file system refuses, in one line. */
function named<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).syscall) throw error
    throw setupProblem(`DATA_DIR ${folder} cannot be used: ${(error as Error).message}`)
  }
}
