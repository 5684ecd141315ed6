import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type File, fileOf, sendFile } from '../pages/files.ts'
import { versionOf } from './assets.ts'
import { allEntries, foundAt, missingPage, searchPage } from './site.ts'

/** No inline script or style, nothing from elsewhere. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

/** A diagram that is opened by itself has its colours in it. */
const DRAWING_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

const HTML = 'text/html; charset=utf-8'

type Asked = FastifyRequest<{ Params: { '*'?: string }; Querystring: { q?: string | string[]; v?: string } }>

/** The documentation. A page is made when it is first asked for, and kept. */
export function mountDocs(server: FastifyInstance) {
  const kept = new Map<string, File>()
  const show = async (request: Asked, reply: FastifyReply) => {
    const path = request.params['*'] ?? ''
    const file = kept.get(path) ?? made(path)
    guard(reply)
    if (!file) return reply.code(404).type(HTML).send(missingPage().text)
    kept.set(path, file)
    if (file.type === 'image/svg+xml') reply.header('content-security-policy', DRAWING_POLICY)
    // What carries its version in its address is never another under it.
    if (request.query.v && request.query.v === versionOf(file.bytes.toString()))
      reply.header('cache-control', 'public, max-age=31536000, immutable')
    return sendFile(file, request, reply)
  }
  let entries: ReturnType<typeof allEntries> | undefined
  server.get('/docs', show)
  // Also at /docs/, where an older version sent browsers for good.
  server.get('/docs/*', show)
  server.get('/docs/search', async (request: Asked, reply) => {
    entries ??= allEntries()
    return guard(reply)
      .type(HTML)
      .send(searchPage(entries, [request.query.q ?? ''].flat()[0] ?? '').text)
  })
}

const guard = (reply: FastifyReply) =>
  reply
    .header('content-security-policy', POLICY)
    .header('cache-control', 'no-cache')
    .header('referrer-policy', 'same-origin')
    .header('x-frame-options', 'DENY')
    .header('cross-origin-opener-policy', 'same-origin')

function made(path: string) {
  const found = foundAt(path)
  return found && fileOf(found.type, Buffer.from(found.text))
}
