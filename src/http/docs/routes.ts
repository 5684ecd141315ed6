import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createFile, type File, sendFile } from '../static/files.ts'
import type { Entry } from './assets/find.js'
import { versionOf } from './assets.ts'
import { newDocsSearch } from './search.ts'
import { missingPage, renderPath } from './site.ts'

/** Allows no inline script or style and no other origin. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

/** A diagram opened directly carries its own style sheet. */
const DIAGRAM_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

const HTML = 'text/html; charset=utf-8'

type DocsRequest = FastifyRequest<{ Params: { '*'?: string }; Querystring: { q?: string | string[]; v?: string } }>

/** Serves the documentation. A page is rendered on first use and cached. */
export function mountDocs(server: FastifyInstance) {
  const cache = new Map<string, File>()
  const search = newDocsSearch()
  const show = async (request: DocsRequest, reply: FastifyReply) => {
    const path = request.params['*'] ?? ''
    const file = cache.get(path) ?? (path === 'search.json' ? indexFile(await search.entries()) : renderFile(path))
    setHeaders(reply)
    if (!file) return reply.code(404).type(HTML).send(missingPage().text)
    cache.set(path, file)
    if (file.type === 'image/svg+xml') reply.header('content-security-policy', DIAGRAM_POLICY)
    // A URL with a content hash never serves other content.
    if (request.query.v && request.query.v === versionOf(file.bytes.toString()))
      reply.header('cache-control', 'public, max-age=31536000, immutable')
    return sendFile(file, request, reply)
  }
  server.get('/docs', show)
  server.get('/docs/*', show)
  server.get('/docs/search', async (request: DocsRequest, reply) => {
    const { text } = await search.page([request.query.q ?? ''].flat()[0] ?? '')
    return setHeaders(reply).type(HTML).send(text)
  })
}

const setHeaders = (reply: FastifyReply) =>
  reply
    .header('content-security-policy', POLICY)
    .header('cache-control', 'no-cache')
    .header('x-frame-options', 'DENY')
    .header('cross-origin-opener-policy', 'same-origin')

const indexFile = (entries: Entry[]) => createFile('application/json; charset=utf-8', Buffer.from(JSON.stringify(entries)))

function renderFile(path: string) {
  const rendered = renderPath(path)
  return rendered && createFile(rendered.type, Buffer.from(rendered.text))
}
