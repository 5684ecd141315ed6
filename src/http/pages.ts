import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import type { App } from '../app.ts'
import { openapi } from '../contract/openapi.ts'
import { problem } from '../problem.ts'
import type { Metrics } from './metrics.ts'

/** What answers without a key: health, metrics and documentation. */
export async function mountPages(app: App, server: FastifyInstance, metrics: Metrics) {
  server.get('/health', async () => ({ status: 'ok' }))
  server.get('/ready', async () => {
    await ready(app)
    return { status: 'ready' }
  })
  server.get('/metrics', async (_, reply) => reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()))
  if (app.config.ROLE === 'worker') return
  const document = openapi()
  server.get('/openapi.json', async () => document)
  server.get('/', async (_, reply) => reply.redirect('/docs'))
  await mountReference(server)
}

/** The service listens only after the migrations ran, so ready means that the database answers. */
async function ready({ db }: App) {
  await sql`select 1`.execute(db).catch(() => {
    throw problem('NOT_READY', 'The database cannot be reached right now.')
  })
}

/** The viewer is served from our own process and asks nobody else for anything. */
async function mountReference(server: FastifyInstance) {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  await server.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Assay API',
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    },
  })
}
