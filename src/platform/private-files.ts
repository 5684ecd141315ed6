import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { setupProblem } from './problem.ts'

/** Creates the folder, or fails early if it cannot be used. */
export const createPrivateFolder = (folder: string) =>
  withSetupProblem(folder, () => {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
  })

/** The content of a file, or undefined if the file does not exist. */
export const readPrivate = (path: string) =>
  withSetupProblem(dirname(path), () => {
    try {
      return fs.readFileSync(path, 'utf8')
    } catch (error) {
      return ignoreCode(error, 'ENOENT')
    }
  })

/** The content of a file that a setting names, without the line break at its end. */
export function readSecretFile(setting: string, path: string) {
  try {
    return fs.readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw setupProblem(`${setting} cannot be read (${(error as NodeJS.ErrnoException).code}); check the path and its permissions`)
  }
}

const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = fs.constants

/**
 * Opens a file that only its owner can read. A file created by root belongs to the folder's owner, who may run without root later.
 * A link left there by that owner must not make root give away another file.
 */
export function openPrivate(path: string) {
  const fd = fs.openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
  if (fs.fstatSync(fd).nlink > 1) throw setupProblem(`${path} has more than one hard link. Remove it and restart.`)
  const folder = fs.statSync(dirname(path))
  if (process.getuid?.() === 0 && folder.uid !== 0) fs.fchownSync(fd, folder.uid, folder.gid)
  return fd
}

/** Replaces a file atomically: a reader sees the old content or the new, even after a power failure. */
export const writePrivate = (path: string, content: string) => withSetupProblem(dirname(path), () => replace(path, content, fs.renameSync))

/** Creates a file once. If two processes create it, the first wins and both read its content. */
export const createPrivate = (path: string, content: string) =>
  withSetupProblem(dirname(path), () => {
    replace(path, content, (temporary, path) => {
      try {
        fs.linkSync(temporary, path)
      } catch (error) {
        ignoreCode(error, 'EEXIST')
      }
      fs.rmSync(temporary)
    })
    return fs.readFileSync(path, 'utf8')
  })

function replace(path: string, content: string, move: (temporary: string, path: string) => void) {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  const fd = openPrivate(temporary)
  fs.writeSync(fd, content)
  fs.fsyncSync(fd)
  fs.closeSync(fd)
  move(temporary, path)
  syncFolder(dirname(path))
}

/** A new file name is durable only after its folder is synced. */
export function syncFolder(folder: string) {
  const fd = fs.openSync(folder, 'r')
  fs.fsyncSync(fd)
  fs.closeSync(fd)
}

function ignoreCode(error: unknown, code: string): undefined {
  if ((error as NodeJS.ErrnoException).code !== code) throw error
}

/** Turns a file system error into one line for the operator. */
function withSetupProblem<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).syscall) throw error
    throw setupProblem(`DATA_DIR ${folder} cannot be used: ${(error as Error).message}`)
  }
}
