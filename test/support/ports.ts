import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/** Systems take ports for outgoing connections from 32768 on, so none of these is taken by accident between two starts of a process. */
const FIRST = 20_000
const COUNT = 10_000
const HOUR = 3_600_000

const folder = join(tmpdir(), `assay-ports-${userInfo().uid}`)
const reserved: string[] = []
let next = (process.pid * 13) % COUNT

process.on('exit', () => {
  for (const file of reserved) rmSync(file, { force: true })
})

/**
 * A free port that belongs to this process until it ends: for a process that must be told its port, or that comes back on the same one.
 * Where a server can tell its port, let it listen on port 0 instead.
 */
export async function reservePort(): Promise<number> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (let tries = 0; tries < COUNT; tries++) {
    next = (next + 1) % COUNT
    const port = FIRST + next
    if (claim(port) && (await isFree(port))) return port
  }
  throw new Error(`No port from ${FIRST} to ${FIRST + COUNT - 1} is free.`)
}

export const reservePorts = async (count: number) => {
  const ports: number[] = []
  while (ports.length < count) ports.push(await reservePort())
  return ports
}

function claim(port: number) {
  const file = join(folder, String(port))
  if (isLeftBehind(file)) rmSync(file, { force: true })
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    reserved.push(file)
    return true
  } catch {
    return false
  }
}

/** A process that was killed leaves its files behind. Young ones are passed over, for two may find the same one at once. */
function isLeftBehind(file: string) {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found || found.mtimeMs > Date.now() - HOUR) return false
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0)
    return false
  } catch {
    return true
  }
}

const isFree = (port: number) =>
  new Promise<boolean>((done) => {
    const server = createServer()
    server.once('error', () => done(false))
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)))
  })
