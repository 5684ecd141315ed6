import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../platform/config.ts'
import { problem } from '../../platform/problem.ts'
import { createFile, type File, sendFile } from '../static/files.ts'

const distFolder = fileURLToPath(new URL('../../../console/dist/', import.meta.url))

/** Allows no inline script or style and no other origin. Documents are shown in frames from blob URLs. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  'frame-src blob:',
  'object-src blob:',
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Reads the console's files once. Every other path under /console serves index.html. */
export function mountConsole(server: FastifyInstance, config: SignInSettings, folder = distFolder) {
  const files = readFiles(folder)
  const index = indexOf(files.get('index.html'), config)
  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!index)
      throw problem(
        'CONSOLE_NOT_BUILT',
        'The console is not built. Start with npm start, or run node scripts/build-console.ts and restart.',
      )
    reply.header('content-security-policy', POLICY).header('cache-control', 'no-cache')
    reply.header('x-frame-options', 'DENY').header('cross-origin-opener-policy', 'same-origin')
    return sendFile(index, request, reply)
  }
  server.get('/', async (_, reply) => reply.redirect('/console'))
  for (const [path, file] of files)
    if (path.startsWith('assets/'))
      server.get(`/console/${path}`, async (request, reply) => {
        // The file names contain a hash of their content.
        reply.header('cache-control', 'public, max-age=31536000, immutable')
        return sendFile(file, request, reply)
      })
  server.get('/console/assets/*', async (_, reply) => reply.callNotFound())
  server.get('/console', page)
  server.get('/console/*', page)
}

type SignInSettings = Pick<Config, 'ENVIRONMENT' | 'OIDC_ISSUER'>

/** Writes the settings that the sign-in page depends on into index.html. */
function indexOf(file: File | undefined, { ENVIRONMENT, OIDC_ISSUER }: SignInSettings) {
  const text = file?.bytes
    .toString()
    .replace('name="environment" content=""', `name="environment" content="${ENVIRONMENT}"`)
    .replace('name="sso" content=""', `name="sso" content="${OIDC_ISSUER ? 'on' : ''}"`)
  return file && text && createFile(file.type, Buffer.from(text))
}

const foldersRead = new Map<string, Map<string, File>>()

/** Reads a built console once per process. A folder without one is read again. */
function readFiles(folder: string) {
  if (!existsSync(join(folder, 'index.html'))) return new Map<string, File>()
  const known = foldersRead.get(folder)
  if (known) return known
  const paths = globSync('**/*.*', { cwd: folder }).map((path) => path.replaceAll('\\', '/'))
  const served = paths.filter((path) => extname(path) in types)
  const files = new Map(served.map((path) => [path, createFile(types[extname(path)] as string, readFileSync(join(folder, path)))]))
  foldersRead.set(folder, files)
  return files
}
