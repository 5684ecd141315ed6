import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type ListenOptions } from 'node:net'
import { join } from 'node:path'
import { writePrivate } from '../../private-files.ts'
import type { ClusterPaths } from './files.ts'

/** How to reach the server: by its socket in the cluster's private folder or, with a port, on loopback. Always with the password. */
export type Access = { password: string; port?: number }

// The kernel takes 103 bytes on macOS and 107 on Linux.
const longestSocketPath = 100

/** Undefined when the file is missing or damaged. */
export function readAccess(places: ClusterPaths): Access | undefined {
  try {
    const { password, port } = JSON.parse(readFileSync(places.access, 'utf8')) as Access
    if (!/^[0-9a-f]+$/.test(password)) return undefined
    return port && Number.isInteger(port) && port > 0 && port < 65_536 ? { password, port } : { password }
  } catch {
    return undefined
  }
}

export async function chooseAccess(places: ClusterPaths, known: Access | undefined): Promise<Access> {
  const password = known?.password ?? randomBytes(32).toString('hex')
  if (!known?.port && (await socketWorks(places, known))) return { password }
  return { password, port: await freePort(known?.port) }
}

/** Only once the cluster knows the password: a crash before that makes the next start set another. */
export function keepAccess(places: ClusterPaths, access: Access) {
  if (JSON.stringify(access) !== JSON.stringify(readAccess(places))) writePrivate(places.access, JSON.stringify(access))
}

export const urlOf = (places: ClusterPaths, { password, port }: Access) =>
  port
    ? `postgres://assay:${password}@127.0.0.1:${port}/assay`
    : `postgres://assay:${password}@localhost/assay?host=${encodeURIComponent(places.cluster)}`

/** Some shared volumes hold no sockets; what the first start found out stays true. */
async function socketWorks({ cluster, dataDir }: ClusterPaths, known: Access | undefined) {
  if (Buffer.byteLength(join(cluster, '.s.PGSQL.5432')) > longestSocketPath) return false
  return known !== undefined || (await listens({ path: join(dataDir, `.try-${randomBytes(4).toString('hex')}`) })) !== undefined
}

async function freePort(wanted = 0): Promise<number> {
  const address = await listens({ host: '127.0.0.1', port: wanted })
  return typeof address === 'object' ? address.port : freePort()
}

/** The address that could be listened on for a moment. */
function listens(options: ListenOptions): Promise<AddressInfo | string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(options, () => {
      const address = server.address() ?? undefined
      server.close(() => resolve(address))
    })
  })
}
