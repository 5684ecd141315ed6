import type { FastifyInstance } from 'fastify'
import { sourceOf } from '../../contract/tenants/sources.ts'
import { drawLogo } from '../../tenants/sources/rules-logo.ts'

/** Serves the logos that responses link to. */
export function mountAssets(server: FastifyInstance) {
  server.get<{ Params: { file: string } }>('/assets/sources/:file', async ({ params }, reply) => {
    const slug = params.file.replace(/\.svg$/, '')
    const source = params.file.endsWith('.svg') ? sourceOf(slug) : undefined
    if (!source) return reply.callNotFound()
    return reply
      .type('image/svg+xml')
      .header('cache-control', 'public, max-age=86400')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
      .send(drawLogo(slug, source.name))
  })
}
