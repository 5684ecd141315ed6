import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type App, SECOND } from '../app.ts'
import { asyncapi } from '../contract/asyncapi.ts'
import { openapi } from '../contract/openapi.ts'
import { databaseAnswers } from '../deployment/actions.ts'
import { problem } from '../problem.ts'
import { mountAssets } from './assets.ts'
import { mountConsole } from './console.ts'
import { mountLinkPages } from './link-pages.ts'
import type { Metrics } from './metrics.ts'

/** What answers without a key: health, metrics, documentation and the console's files. */
export async function mountPages(app: App, server: FastifyInstance, metrics: Metrics, started: () => boolean) {
  server.get('/health', async () => ({ status: 'ok' }))
  server.get('/ready', async () => {
    if (!started() || !(await answersSoon(app)))
      throw problem('NOT_READY', 'The service is starting, or the database cannot be reached right now.')
    return { status: 'ready' }
  })
  server.get('/metrics', async (_, reply) => reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()))
  if (app.config.ROLE === 'worker') return
  const document = openapi()
  server.get('/openapi.json', async () => document)
  // Made when somebody asks: it takes longer than all else of a start that can wait.
  let events: ReturnType<typeof asyncapi> | undefined
  server.get('/asyncapi.json', async () => {
    events ??= asyncapi()
    return events
  })
  mountAssets(server)
  mountConsole(server)
  await mountLinkPages(app, server)
  await mountReference(server)
}

const READY_WITHIN = 3 * SECOND

const answersSoon = (app: App) => Promise.race([databaseAnswers(app), pause(READY_WITHIN, false, { ref: false })])

/** Enforced by the browser as well: a key that somebody types into the page reaches this service only. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"

const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#0b7285"/></svg>')}`

/** The viewer is served from our own process and asks nobody else for anything. */
async function mountReference(server: FastifyInstance) {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  await server.register(reference, {
    routePrefix: '/docs',
    hooks: {
      onRequest: (_, reply, done) => {
        reply.header('content-security-policy', POLICY)
        done()
      },
    },
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Assay API',
      favicon: icon,
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: 'never',
      // The link to the maker's site is the only one that leads away; a narrow window would scroll sideways by a few pixels.
      customCss: '.darklight-reference a[href*="scalar.com"] { display: none } .scalar-app { overflow-x: clip }',
      authentication: { preferredSecurityScheme: 'teamKey' },
      defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    },
  })
}
