import { existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { type Config, localUrl } from '../../platform/config.ts'
import type { Finding } from './finding.ts'

export function nodeFinding(version: string): Finding {
  const isSupported = Number(version.split('.')[0]) >= 24
  return isSupported
    ? { state: 'ok', text: version }
    : { state: 'wrong', text: `${version} is too old`, remedy: 'run with Node 24 or newer, such as node_modules/.bin/node' }
}

export function publicUrlFinding({ ENVIRONMENT, PUBLIC_URL }: Config): Finding {
  if (ENVIRONMENT === 'sandbox') return { state: 'ok', text: PUBLIC_URL ?? 'from HOST and PORT' }
  if (!PUBLIC_URL)
    return {
      state: 'warning',
      text: 'PUBLIC_URL is not set',
      remedy: 'set it to the https URL that clients use; Assay puts it into links',
    }
  if (!PUBLIC_URL.startsWith('https:'))
    return { state: 'warning', text: `${PUBLIC_URL} is not encrypted`, remedy: 'terminate TLS in front of the service' }
  return { state: 'ok', text: PUBLIC_URL }
}

const secrets = ['credentials.json', 'encryption.key', 'postgres.json']

/** Other accounts on the machine must not be able to read keys. */
export function dataDirFinding(dataDir: string): Finding {
  if (!existsSync(dataDir)) return { state: 'ok', text: `${resolve(dataDir)} does not exist yet; the service creates it` }
  const readable = secrets.filter((name) => existsSync(join(dataDir, name)) && statSync(join(dataDir, name)).mode & 0o077)
  if (readable.length)
    return {
      state: 'wrong',
      text: `other users can read ${readable.join(', ')}`,
      remedy: `chmod 600 ${readable.map((name) => join(resolve(dataDir), name)).join(' ')}`,
    }
  if (statSync(dataDir).mode & 0o077)
    return { state: 'warning', text: 'other users can read the folder', remedy: `chmod 700 ${resolve(dataDir)}` }
  return { state: 'ok', text: `${resolve(dataDir)} is private` }
}

const GIB = 1024 ** 3

export async function diskFinding(dataDir: string): Promise<Finding> {
  const folder = existsSync(dataDir) ? dataDir : dirname(resolve(dataDir))
  const { bavail, bsize, blocks } = await statfs(folder)
  const free = bavail * bsize
  const text = `${(free / GIB).toFixed(1)} GiB free of ${((blocks * bsize) / GIB).toFixed(1)}`
  const remedy = 'free some space, or move DATA_DIR; a full disk stops PostgreSQL'
  if (free < GIB) return { state: 'wrong', text, remedy }
  return free < 5 * GIB ? { state: 'warning', text, remedy } : { state: 'ok', text }
}

/** The port must be free, or a running Assay must respond on it. */
export async function portFinding(config: Config): Promise<Finding> {
  const { HOST, PORT } = config
  const signal = AbortSignal.timeout(3000)
  const response = await fetch(`${localUrl(config)}/ready`, { signal }).catch(() => undefined)
  if (signal.aborted)
    return {
      state: 'warning',
      text: `a process listens on ${PORT} and did not respond within 3 seconds`,
      remedy: 'check its log and its load',
    }
  if (response?.headers.get('x-request-id'))
    return response.ok
      ? { state: 'ok', text: `the service is ready on ${PORT}` }
      : {
          state: 'wrong',
          text: `the service responds on ${PORT} but is not ready`,
          remedy: 'check its log; usually the database is unreachable',
        }
  const free = PORT === 0 || (await isFree(HOST, PORT))
  return free
    ? { state: 'ok', text: `${PORT} is free; no service is running on it` }
    : {
        state: 'wrong',
        text: `${PORT} on ${HOST} is not available`,
        remedy: 'stop the process that uses it, or choose another PORT or HOST',
      }
}

const isFree = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port }, () => server.close(() => resolve(true)))
  })
