import { createHash } from 'node:crypto'
import { join } from 'node:path/posix'
import type { SFTPWrapper } from 'ssh2'
import { Problem, setupProblem } from '../../../platform/problem.ts'
import type { ListedFile } from './rules-files.ts'

export type SftpAddress = {
  host: string
  port: number
  user: string
  password: string | undefined
  privateKey: Buffer | undefined
  passphrase: string | undefined
  /** SHA-256 fingerprints of the host keys that the server may have. */
  hostKeys: string[]
  timeoutMs: number
}

export type SftpConnection = Awaited<ReturnType<typeof connectSftp>>

type Callback<T> = (error: Error | null | undefined, value: T) => void

/** Status codes of SFTP. */
const END_OF_FILE = 1
const NO_SUCH_FILE = 2
const reasons: Record<number, string> = { [NO_SUCH_FILE]: 'no such file or folder', 3: 'permission denied' }

/** What the library says about calls that were open when the session ended. */
const NO_RESPONSE = 'No response from server'

const READ_BYTES = 256 * 1024
const TEMPORARY = '.part'

/** The SHA-256 fingerprint of a host key, as OpenSSH prints it. */
export const fingerprintOf = (key: Buffer) => `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

/**
 * Connects to an SFTP server that has one of the known host keys. A call that is not answered in time ends the connection, and
 * every call after it fails. The reasons name no file, because a lab can name files after patients.
 */
export async function connectSftp({ host, port, user, hostKeys, timeoutMs, ...credentials }: SftpAddress) {
  // Only processes that exchange files load the library.
  const { Client } = (await import('ssh2')).default
  const client = new Client()
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => {})
  let failure: Problem | undefined

  function fail(reason: string) {
    failure ??= setupProblem(reason)
    broken.reject(failure)
    client.destroy()
  }

  async function call<T>(what: string, run: (done: Callback<T>) => void): Promise<T> {
    if (failure) throw failure
    const timer = setTimeout(() => fail('The lab did not answer in time'), timeoutMs)
    const answered = new Promise<T>((resolve, reject) => run((error, value) => (error ? reject(error) : resolve(value))))
    try {
      return await Promise.race([answered, broken.promise])
    } catch (error) {
      // The session can end before the connection does. Then a call fails that the lab did not refuse.
      if ((error as Error).message === NO_RESPONSE) fail('The lab closed the connection')
      throw error instanceof Problem ? error : (failure ?? refusal(what, error as SshError))
    } finally {
      clearTimeout(timer)
    }
  }

  function isKnown(key: Buffer) {
    const fingerprint = fingerprintOf(key)
    if (hostKeys.includes(fingerprint)) return true
    fail(`The server has the host key ${fingerprint}, which host_keys does not list`)
    return false
  }

  client.on('error', (error) => fail(`The connection to the lab failed (${reasonOf(error)})`))
  client.on('close', () => fail('The lab closed the connection'))
  const sftp = await call<SFTPWrapper>('open a session', (done) => {
    client.on('ready', () => client.sftp(done as Callback<SFTPWrapper>))
    client.connect({ host, port, username: user, ...definedOf(credentials), readyTimeout: timeoutMs, hostVerifier: isKnown })
    // Each call is a small packet that must not wait for the one before.
    client.setNoDelay(true)
  }).catch((error) => {
    fail(error.message)
    throw error
  })

  const stat = (path: string) =>
    call<ListedFile | undefined>('look for a file', (done) =>
      sftp.stat(path, (error, { size = 0, mtime = 0 } = {} as never) => {
        if ((error as { code?: number } | undefined)?.code === NO_SUCH_FILE) done(null, undefined)
        else done(error, { name: path, size, modified: mtime })
      }),
    )
  const rename = (from: string, to: string) => call<void>('rename a file', (done) => sftp.rename(from, to, done as Callback<void>))
  const close = (handle: Buffer) => call<void>('close a file', (done) => sftp.close(handle, done as Callback<void>))

  /** The files of a folder, at most this many. */
  async function list(folder: string, max: number): Promise<ListedFile[]> {
    const handle = await call<Buffer>('open the folder', (done) => sftp.opendir(folder, done))
    const files: ListedFile[] = []
    while (files.length < max) {
      const entries = await call<Entry[] | undefined>('list the folder', (done) =>
        sftp.readdir(handle, (error, entries) =>
          (error as { code?: number } | undefined)?.code === END_OF_FILE ? done(null, undefined) : done(error, entries),
        ),
      )
      if (!entries) break
      for (const { filename, attrs } of entries) if (attrs.isFile()) files.push({ name: filename, size: attrs.size, modified: attrs.mtime })
    }
    await close(handle)
    return files.slice(0, max)
  }

  /** Reads a file to its end, or one byte more than expected: then it has grown. */
  async function read(path: string, expected: number): Promise<Buffer> {
    const handle = await call<Buffer>('open a file', (done) => sftp.open(path, 'r', done))
    const bytes = Buffer.alloc(expected + 1)
    let size = 0
    while (size < bytes.length) {
      const length = Math.min(READ_BYTES, bytes.length - size)
      const count = await call<number>('read a file', (done) => sftp.read(handle, bytes, size, length, size, done))
      if (!count) break
      size += count
    }
    await close(handle)
    return bytes.subarray(0, size)
  }

  /** Writes a file under another name and renames it when it is complete. A file that is there already stays. */
  async function put(folder: string, name: string, bytes: Buffer) {
    const path = join(folder, name)
    if ((await stat(path))?.size === bytes.length) return
    const handle = await call<Buffer>('create a file', (done) => sftp.open(path + TEMPORARY, 'w', done))
    for (let at = 0; at < bytes.length; at += READ_BYTES) {
      const length = Math.min(READ_BYTES, bytes.length - at)
      await call<void>('write a file', (done) => sftp.write(handle, bytes, at, length, at, done as Callback<void>))
    }
    await close(handle)
    await rename(path + TEMPORARY, path)
  }

  /** Moves a file to a folder, which is created if it is missing. A file with the same name there stays. */
  async function move(from: string, folder: string, name: string, suffix: string) {
    if (!(await stat(folder))) await call<void>('create the folder', (done) => sftp.mkdir(folder, done as Callback<void>))
    const isTaken = await stat(join(folder, name))
    await rename(join(from, name), join(folder, isTaken ? `${name}.${suffix}` : name))
  }

  return {
    ...{ list, read, stat, put, move },
    isOpen: () => failure === undefined,
    [Symbol.dispose]() {
      fail('The connection was closed')
    },
  }
}

type Entry = { filename: string; attrs: { size: number; mtime: number; isFile(): boolean } }

type SshError = { code?: string | number; level?: string; message?: string }

/** Errors of the network have a code such as ECONNREFUSED, those of SSH a level such as client-authentication. */
const reasonOf = ({ code, level, message }: SshError) =>
  message?.startsWith('Cannot parse privateKey') ? 'private_key cannot be read' : (code ?? level ?? 'unknown reason')

const refusal = (what: string, error: SshError) =>
  setupProblem(`The lab refused to ${what} (${reasons[Number(error.code)] ?? reasonOf(error)})`)

/** The library takes an undefined key for a wrong one. */
const definedOf = ({ password, privateKey, passphrase }: Pick<SftpAddress, 'password' | 'privateKey' | 'passphrase'>) => ({
  ...(password === undefined ? {} : { password }),
  ...(privateKey === undefined ? {} : { privateKey }),
  ...(passphrase === undefined ? {} : { passphrase }),
})
