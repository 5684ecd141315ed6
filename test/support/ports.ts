import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/** Outgoing connections use ports from 32768, so these stay free between two starts of a process. */
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
 * Reserves a free port until this process ends, for a server that needs a fixed port or restarts on the same one.
 * Other servers should listen on port 0.
 */
export async function reservePort(): Promise<number> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (let attempt = 0; attempt < COUNT; attempt++) {
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
  if (isStale(file)) rmSync(file, { force: true })
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    reserved.push(file)
    return true
  } catch {
    return false
  }
}

/** A killed process leaves its files. Recent ones are skipped, because two processes may find the same one at once. */
function isStale(file: string) {
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
