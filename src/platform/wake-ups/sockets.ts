import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstRoot } from '../sealing/roots.ts'
import { derive } from '../sealing/seal.ts'
import type { Vault } from '../sealing/vault.ts'
import type { WakeUp } from './wake-up.ts'

/** How often a sender looks for new receivers. */
const LOOK_AGAIN_MS = 1000
/** A receiver that does not keep up misses wake-ups instead of filling the sender's memory. */
const MAX_BUFFERED_BYTES = 1024 * 1024
/** How long a sender that stops waits for receivers that do not read. */
const MAX_CLOSING_MS = 500
/** Some systems reject the path of a socket in a longer folder. */
const MAX_FOLDER_BYTES = 80

/**
 * The folder of the sockets of a deployment, which its key identifies. Only the same account can enter it.
 * Undefined if the folder cannot be used; processes then find their work by polling.
 */
export function socketFolder(vault: Vault): string | undefined {
  const deployment = derive(firstRoot(vault), 'wake-ups').toString('hex').slice(0, 16)
  const folder = join(tmpdir(), `assay-${process.getuid?.() ?? 0}`, deployment)
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = fs.statSync(join(folder, '..'))
    const isPrivate = uid === process.getuid?.() && (mode & 0o077) === 0
    return isPrivate && Buffer.byteLength(folder) <= MAX_FOLDER_BYTES ? folder : undefined
  } catch {
    return undefined
  }
}

/** Receives wake-ups of these types from other processes on this machine. */
export async function receiveLocal(folder: string, types: WakeUp['type'][], onWakeUp: (wakeUp: WakeUp) => void) {
  const name = join(folder, randomBytes(6).toString('hex'))
  const [opening, path] = [`${name}.new`, `${name}.sock`]
  const connections = new Set<Socket>()
  const server = createServer((socket) => {
    connections.add(socket)
    readLines(socket, (line) => {
      const [type, id] = line.split(SEPARATOR) as [WakeUp['type'], string]
      onWakeUp({ type, id })
    })
    socket.write(`${types.join(SEPARATOR)}\n`)
    socket.on('error', () => {})
    socket.on('close', () => connections.delete(socket))
  })
  await new Promise<void>((done, fail) => server.once('error', fail).listen(opening, done))
  // Renamed only now, because a sender removes a socket that refuses its connection.
  fs.renameSync(opening, path)
  server.unref()
  return {
    async close() {
      fs.rmSync(path, { force: true })
      for (const socket of connections) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

const SEPARATOR = '\t'

function readLines(socket: Socket, onLine: (line: string) => void) {
  let rest = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(onLine)
  })
}

/** `types` is what the receiver takes: everything until it says so. */
type Receiver = { socket: Socket; types: string[] | undefined }

/**
 * Sends wake-ups to every process on this machine that receives them, this one included if it does. Those of one turn of the event
 * loop go out together, and repeated ones once. They may be lost.
 */
export function sendLocal(folder: string) {
  const receivers = new Map<string, Receiver>()
  const pending = new Map<string, WakeUp['type']>()
  let lookedAt = Number.NEGATIVE_INFINITY

  function lookForReceivers() {
    if (performance.now() - lookedAt < LOOK_AGAIN_MS) return
    lookedAt = performance.now()
    for (const name of readFolder(folder)) if (!receivers.has(name)) receivers.set(name, connect(name))
  }

  function connect(name: string): Receiver {
    const path = join(folder, name)
    const socket = createConnection(path).unref()
    const receiver: Receiver = { socket, types: undefined }
    readLines(socket, (line) => {
      receiver.types = line.split(SEPARATOR)
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      // The process that created the socket was killed.
      if (code === 'ECONNREFUSED') fs.rmSync(path, { force: true })
    })
    socket.on('close', () => receivers.delete(name))
    return receiver
  }

  function flush() {
    for (const { socket, types } of receivers.values()) {
      if (socket.writableLength >= MAX_BUFFERED_BYTES) continue
      const lines = [...pending].filter(([, type]) => types?.includes(type) ?? true).map(([line]) => line)
      if (lines.length) socket.write(lines.join(''))
    }
    pending.clear()
  }

  return {
    send({ type, id }: WakeUp) {
      lookForReceivers()
      if (!pending.size) setImmediate(flush)
      pending.set(`${type}${SEPARATOR}${id}\n`, type)
    },
    /** Waits until the receivers have read what was sent. */
    async close() {
      flush()
      await Promise.all([...receivers.values()].map(({ socket }) => endRead(socket)))
    },
  }
}

/** A receiver ends the connection when it has read everything. */
async function endRead(socket: Socket) {
  const closed = new Promise((done) => socket.once('close', done))
  socket.ref().setTimeout(MAX_CLOSING_MS, () => socket.destroy())
  socket.end()
  await closed
}

function readFolder(folder: string) {
  try {
    return fs.readdirSync(folder).filter((name) => name.endsWith('.sock'))
  } catch {
    return []
  }
}
