import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { openPrivate } from '../../private-files.ts'

export type Role = 'service' | 'command'
export type Holder = { pid: number; role: Role }
export type Lock = { release(): void }

/**
 * The kernel holds the lock for as long as this process lives, so it cannot be stale, two starters cannot both win, and
 * it also works between containers that share the folder. Undefined when somebody else holds it.
 */
export async function takeLock(path: string, role: Role): Promise<Lock | undefined> {
  const fd = process.platform === 'linux' ? openPrivate(path) : openExclusive(path)
  if (fd === undefined) return undefined
  const free = process.platform === 'linux' ? await lockFile(fd) : () => {}
  if (free) sign(fd, { pid: process.pid, role })
  else fs.closeSync(fd)
  return free && { release: () => [fs.closeSync(fd), free()] }
}

/** Who holds the lock; undefined for the moment in which a new holder has not yet signed. */
export function holderOf(path: string): Holder | undefined {
  try {
    return JSON.parse(fs.readFileSync(path, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

function sign(fd: number, holder: Holder) {
  fs.ftruncateSync(fd)
  fs.writeSync(fd, JSON.stringify(holder), 0)
}

type Free = () => void

/** flock(1) locks the open file that it inherits from us; the lock stays with our descriptor after flock has ended. */
function lockFile(fd: number): Free | undefined | Promise<Free | undefined> {
  const { status } = spawnSync('flock', ['-x', '-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] })
  if (status === 0) return () => {}
  const { dev, ino } = fs.fstatSync(fd)
  return status === 1 ? undefined : lockName(`assay-${dev}-${ino}`)
}

/** Where flock is missing: a name in the kernel's abstract socket space, which ends with us as well. */
export function lockName(name: string): Promise<Free | undefined> {
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
