import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstRoot } from '../../../platform/sealing/roots.ts'
import { derive } from '../../../platform/sealing/seal.ts'
import type { Vault } from '../../../platform/sealing/vault.ts'

/** How often a sender looks for new receivers. */
const LOOK_AGAIN_MS = 1000
/** A receiver that does not keep up misses messages instead of filling the sender's memory. */
const MAX_BUFFERED_BYTES = 1024 * 1024
/** Some systems reject the path of a socket in a longer folder. */
const MAX_FOLDER_BYTES = 80

/**
 * The folder of the sockets of a deployment, which its key identifies. Only the same account can enter it.
 * Undefined if the folder cannot be used; workers then find messages by polling.
 */
export function socketFolder(vault: Vault, purpose = 'local messages'): string | undefined {
  const deployment = derive(firstRoot(vault), purpose).toString('hex').slice(0, 16)
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

/** Receives the messages of other processes on this machine. A message is one line. */
export async function receiveLocal(folder: string, onMessage: (message: string) => void): Promise<{ close(): Promise<void> }> {
  const name = join(folder, randomBytes(6).toString('hex'))
  const [opening, path] = [`${name}.new`, `${name}.sock`]
  const connections = new Set<Socket>()
  const server = createServer((socket) => {
    connections.add(socket)
    socket.setEncoding('utf8')
    let rest = ''
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) onMessage(line)
    })
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

/**
 * Sends messages to every process on this machine that receives them, this one included if it does. Messages of one turn of the
 * event loop go out together, and repeated ones once. Messages may be lost.
 */
export function sendLocal(folder: string) {
  const receivers = new Map<string, Socket>()
  const pending = new Set<string>()
  let lookedAt = Number.NEGATIVE_INFINITY

  function lookForReceivers() {
    if (performance.now() - lookedAt < LOOK_AGAIN_MS) return
    lookedAt = performance.now()
    for (const name of readFolder(folder)) if (!receivers.has(name)) receivers.set(name, connect(name))
  }

  function connect(name: string) {
    const path = join(folder, name)
    const socket = createConnection(path)
    socket.unref()
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      // The process that created the socket was killed.
      if (code === 'ECONNREFUSED') fs.rmSync(path, { force: true })
    })
    socket.on('close', () => receivers.delete(name))
    return socket
  }

  function flush() {
    const lines = [...pending].map((message) => `${message}\n`).join('')
    pending.clear()
    for (const socket of receivers.values()) if (lines && socket.writableLength < MAX_BUFFERED_BYTES) socket.write(lines)
  }

  return {
    send(message: string) {
      lookForReceivers()
      if (!pending.size) setImmediate(flush)
      pending.add(message)
    },
    close() {
      flush()
      for (const socket of receivers.values()) socket.destroy()
    },
  }
}

function readFolder(folder: string) {
  try {
    return fs.readdirSync(folder).filter((name) => name.endsWith('.sock'))
  } catch {
    return []
  }
}
