import { constants } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { basename, dirname, normalize } from 'node:path/posix'
import type { AuthContext, Connection, ParsedKey, SFTPWrapper } from 'ssh2'
import { isSameText } from '../../../platform/sealing/same-bytes.ts'
import { fingerprintOf } from './client.ts'

export type ServedFile = { bytes: Buffer; modified: number }

/** A tree of files in memory. Folders cannot be removed. */
export type Tree = { folders: Set<string>; files: Map<string, ServedFile> }

type Serving = {
  host: string
  port: number
  tree: Tree
  user: string
  password: string
  /** A private key in OpenSSH format; a new one by default. */
  hostKey?: string | undefined
  /** Public keys that may sign in, in OpenSSH format. */
  authorizedKeys?: string[]
  /** Hears of a file that is complete, renamed or closed after writing, before the client does. */
  onFile?(path: string): void
  /** Whether the connection breaks in the middle of writing or reading this file. */
  isCut?(what: 'write' | 'read', path: string): boolean
}

const PAGE = 100

/** An SFTP server whose files are in memory, for stand-ins and tests. */
export async function listenSftp({ host, port, hostKey, ...serving }: Serving) {
  const { Server, utils } = (await import('ssh2')).default
  const privateKey = hostKey ?? utils.generateKeyPairSync('ed25519').private
  const parsed = utils.parseKey(privateKey)
  if (parsed instanceof Error) throw parsed
  const authorized = (serving.authorizedKeys ?? [])
    .map((text) => utils.parseKey(text))
    .filter((key): key is ParsedKey => !(key instanceof Error))

  function isAllowed(context: AuthContext) {
    if (context.username !== serving.user) return false
    if (context.method === 'password') return isSameText(context.password, serving.password)
    if (context.method !== 'publickey') return false
    const key = authorized.find((key) => key.getPublicSSH().equals(context.key.data))
    if (!key) return false
    // The first request asks whether the key is known, and the second one signs.
    return !context.signature || key.verify(context.blob as Buffer, context.signature, context.hashAlgo) === true
  }

  const connections = new Set<Connection>()
  const server = new Server({ hostKeys: [privateKey] }, (connection) => {
    connections.add(connection)
    // The types of the library lack the method.
    ;(connection as Connection & { setNoDelay(isOn: boolean): void }).setNoDelay(true)
    const cut = () => connection.end()
    connection.on('authentication', (context) => (isAllowed(context) ? context.accept() : context.reject(['password', 'publickey'])))
    connection.on('session', (accept) => accept().on('sftp', (open) => serve(open(), cut, serving)))
    connection.on('error', () => {})
    connection.on('close', () => connections.delete(connection))
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(port, host, resolve)
  await promise
  return {
    port: (server.address() as AddressInfo).port,
    fingerprint: fingerprintOf(parsed.getPublicSSH()),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const connection of connections) connection.end()
      await closed
    },
  }
}

/** Answers the requests of one session. */
function serve(sftp: SFTPWrapper, cut: () => void, { tree, onFile = () => {}, isCut = () => false }: Omit<Serving, 'host' | 'port'>) {
  const { folders, files } = tree
  const handles = new Map<number, { path: string; isWritten?: boolean; names?: string[] }>()
  let count = 0
  const [OK, EOF, NO_SUCH_FILE, FAILURE] = [0, 1, 2, 4] as const
  const fullPath = (path: string) => normalize(`/${path}`).replace(/(.)\/$/, '$1')
  const handleIn = (handle: Buffer) => handles.get(handle.readUInt32BE(0))

  function open(request: number, entry: { path: string; isWritten?: boolean; names?: string[] }) {
    const handle = Buffer.alloc(4)
    handle.writeUInt32BE(++count)
    handles.set(count, entry)
    sftp.handle(request, handle)
  }
  const attributesOf = (path: string) => {
    const file = files.get(path)
    const time = Math.floor((file?.modified ?? 0) / 1000)
    const mode = file ? constants.S_IFREG | 0o644 : constants.S_IFDIR | 0o755
    return { mode, uid: 0, gid: 0, size: file?.bytes.length ?? 0, atime: time, mtime: time }
  }
  const stat = (request: number, name: string) => {
    const path = fullPath(name)
    if (files.has(path) || folders.has(path)) sftp.attrs(request, attributesOf(path))
    else sftp.status(request, NO_SUCH_FILE)
  }

  sftp.on('STAT', stat).on('LSTAT', stat)
  sftp.on('REALPATH', (request, path) => sftp.name(request, [{ filename: fullPath(path), longname: '', attrs: attributesOf('/') }]))
  sftp.on('OPENDIR', (request, name) => {
    const path = fullPath(name)
    if (!folders.has(path)) return sftp.status(request, NO_SUCH_FILE)
    const names = [...files.keys(), ...folders].filter((one) => one !== path && dirname(one) === path)
    open(request, { path, names })
  })
  sftp.on('READDIR', (request, handle) => {
    const page = handleIn(handle)?.names?.splice(0, PAGE) ?? []
    if (!page.length) return sftp.status(request, EOF)
    sftp.name(
      request,
      page.map((path) => ({ filename: basename(path), longname: basename(path), attrs: attributesOf(path) })),
    )
  })
  sftp.on('OPEN', (request, name, flags) => {
    const path = fullPath(name)
    // 2 is the flag for writing.
    const isWritten = (flags & 2) !== 0
    if (!(isWritten ? folders.has(dirname(path)) : files.has(path))) return sftp.status(request, NO_SUCH_FILE)
    if (isWritten) files.set(path, { bytes: Buffer.alloc(0), modified: Date.now() })
    open(request, { path, isWritten })
  })
  sftp.on('WRITE', (request, handle, offset, data) => {
    const path = handleIn(handle)?.path ?? ''
    const bytes = files.get(path)?.bytes.subarray(0, offset)
    if (!bytes) return sftp.status(request, FAILURE)
    const isBroken = isCut('write', path)
    files.set(path, { bytes: Buffer.concat([bytes, isBroken ? data.subarray(0, data.length / 2) : data]), modified: Date.now() })
    if (isBroken) cut()
    else sftp.status(request, OK)
  })
  sftp.on('READ', (request, handle, offset, length) => {
    const path = handleIn(handle)?.path ?? ''
    const data = files.get(path)?.bytes.subarray(offset, offset + Math.min(length, 32_768))
    if (isCut('read', path)) cut()
    else if (data?.length) sftp.data(request, data)
    else sftp.status(request, EOF)
  })
  sftp.on('CLOSE', (request, handle) => {
    const closed = handleIn(handle)
    handles.delete(handle.readUInt32BE(0))
    if (closed?.isWritten) onFile(closed.path)
    sftp.status(request, OK)
  })
  sftp.on('MKDIR', (request, name) => {
    folders.add(fullPath(name))
    sftp.status(request, OK)
  })
  sftp.on('RENAME', (request, oldName, newName) => {
    const [from, to] = [fullPath(oldName), fullPath(newName)]
    const file = files.get(from)
    if (!file || files.has(to) || !folders.has(dirname(to))) return sftp.status(request, file ? FAILURE : NO_SUCH_FILE)
    files.delete(from)
    files.set(to, file)
    onFile(to)
    sftp.status(request, OK)
  })
}
