import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type ListenOptions } from 'node:net'
import { join } from 'node:path'
import { writePrivate } from '../../private-files.ts'
import type { ClusterPaths } from './files.ts'

/** The server listens on a socket in the cluster's private folder or, with a port, on loopback. Both require the password. */
export type Access = { password: string; port?: number }

// The kernel allows 103 bytes on macOS and 107 on Linux.
const maxSocketPath = 100

/** Returns undefined if the file is missing or damaged. */
export function readAccess(paths: ClusterPaths): Access | undefined {
  try {
    const { password, port } = JSON.parse(readFileSync(paths.access, 'utf8')) as Access
    if (!/^[0-9a-f]+$/.test(password)) return undefined
    return port && Number.isInteger(port) && port > 0 && port < 65_536 ? { password, port } : { password }
  } catch {
    return undefined
  }
}

export async function chooseAccess(paths: ClusterPaths, stored: Access | undefined): Promise<Access> {
  const password = stored?.password ?? randomBytes(32).toString('hex')
  if (!stored?.port && (await canUseSocket(paths, stored))) return { password }
  return { password, port: await freePort(stored?.port) }
}

/** Call this after the cluster has the password. A crash before that makes the next start set a new one. */
export function storeAccess(paths: ClusterPaths, access: Access) {
  if (JSON.stringify(access) !== JSON.stringify(readAccess(paths))) writePrivate(paths.access, JSON.stringify(access))
}

export const urlOf = (paths: ClusterPaths, { password, port }: Access) =>
  port
    ? `postgres://assay:${password}@127.0.0.1:${port}/assay`
    : `postgres://assay:${password}@localhost/assay?host=${encodeURIComponent(paths.cluster)}`

/** Some shared volumes do not support sockets. Only the first start tests it. */
async function canUseSocket({ cluster, dataDir }: ClusterPaths, stored: Access | undefined) {
  if (Buffer.byteLength(join(cluster, '.s.PGSQL.5432')) > maxSocketPath) return false
  return stored !== undefined || (await tryListen({ path: join(dataDir, `.try-${randomBytes(4).toString('hex')}`) })) !== undefined
}

async function freePort(preferred = 0): Promise<number> {
  const address = await tryListen({ host: '127.0.0.1', port: preferred })
  return typeof address === 'object' ? address.port : freePort()
}

/** Listens for a moment and returns the address, or undefined if it is not available. */
function tryListen(options: ListenOptions): Promise<AddressInfo | string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(options, () => {
      const address = server.address() ?? undefined
      server.close(() => resolve(address))
    })
  })
}
