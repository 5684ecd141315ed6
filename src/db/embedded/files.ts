import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { setupProblem } from '../../problem.ts'

/** Everything we keep in DATA_DIR for our own PostgreSQL. */
export const placesIn = (dataDir: string) => ({
  dataDir,
  cluster: join(dataDir, 'postgres'),
  log: join(dataDir, 'postgres.log'),
  lock: join(dataDir, 'postgres.lock'),
  access: join(dataDir, 'postgres.json'),
})

export type Places = ReturnType<typeof placesIn>

export function makePrivateFolder(folder: string) {
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
  } catch (error) {
    throw setupProblem(`DATA_DIR ${folder} cannot be used: ${(error as Error).message}.`)
  }
}

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
export function writePrivate(path: string, content: string) {
  fs.rmSync(`${path}.new`, { force: true })
  const fd = openPrivate(`${path}.new`)
  fs.writeSync(fd, content)
  fs.fsyncSync(fd)
  fs.closeSync(fd)
  fs.renameSync(`${path}.new`, path)
}
