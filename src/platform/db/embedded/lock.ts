import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { openPrivate } from '../../private-files.ts'

export type Role = 'service' | 'command'
type Holder = { pid: number; role: Role }
export type Lock = { release(): void }

/**
 * The kernel holds the lock while this process lives, so it is never stale and also works between containers that share
 * the folder. Returns undefined if another process holds it.
 */
export async function acquireLock(path: string, role: Role): Promise<Lock | undefined> {
  const fd = process.platform === 'linux' ? openPrivate(path) : openExclusive(path)
  if (fd === undefined) return undefined
  const release = process.platform === 'linux' ? await lockFile(fd) : () => {}
  if (release) writeHolder(fd, { pid: process.pid, role })
  else fs.closeSync(fd)
  return release && { release: () => [fs.closeSync(fd), release()] }
}

/** Returns the holder of the lock, or undefined if a new holder has not written its pid yet. */
export function holderOf(path: string): Holder | undefined {
  try {
    return JSON.parse(fs.readFileSync(path, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

function writeHolder(fd: number, holder: Holder) {
  fs.ftruncateSync(fd)
  fs.writeSync(fd, JSON.stringify(holder), 0)
}

type Release = () => void

/** flock(1) locks the open file that it inherits; the lock stays with this process's descriptor after flock exits. */
function lockFile(fd: number): Release | undefined | Promise<Release | undefined> {
  const { status } = spawnSync('flock', ['-x', '-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] })
  if (status === 0) return () => {}
  const { dev, ino } = fs.fstatSync(fd)
  return status === 1 ? undefined : lockName(`assay-${dev}-${ino}`)
}

/** Without flock, an abstract Unix socket name serves as the lock. The kernel frees it when the process ends. */
export function lockName(name: string): Promise<Release | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy()).unref()
    server.once('error', () => resolve(undefined))
    server.listen(`\0${name}`, () => resolve(() => void server.close()))
  })
}

/** macOS locks while opening: O_EXLOCK with O_NONBLOCK. */
function openExclusive(path: string) {
  const exclusive = 0x24
  try {
    return fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT | exclusive, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}
