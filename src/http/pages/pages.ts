import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { asyncapi } from '../../contract/asyncapi.ts'
import { openapi } from '../../contract/openapi.ts'
import { dispatchBacklog } from '../../labs/orders/progress/dispatch.ts'
import { databaseState } from '../../operations/deployment/actions.ts'
import { publicKeys } from '../../operations/user-deletion/certificate.ts'
import type { App } from '../../platform/app.ts'
import { problem } from '../../platform/problem.ts'
import { SECOND } from '../../platform/time.ts'
import { countOpenBreaks } from '../../tenants/audit/breaks.ts'
import type { Siblings } from '../connections/siblings.ts'
import { mountReference } from '../docs/reference.ts'
import { mountDocs } from '../docs/routes.ts'
import { metricsReader } from '../metrics/collect.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { checkMetricsToken } from '../metrics/rules-token.ts'
import { createFile, type File, sendFile } from '../static/files.ts'
import { mountAssets } from './assets.ts'
import { mountCloudWebhooks } from './cloud-webhooks.ts'
import { mountConsole } from './console.ts'
import { mountCourierWebhooks } from './courier-webhooks.ts'
import { mountLinkPages } from './link-pages.ts'
import { mountOptOut } from './opt-out.ts'
import { mountSso } from './sso.ts'

type Options = { isReady(): boolean; siblings: Siblings | undefined }

/** Mounts everything that needs no API key: health, metrics, documentation, link pages and the console's files. */
export async function mountPages(app: App, server: FastifyInstance, metrics: Metrics, { isReady, siblings }: Options) {
  server.get('/health', async () => ({ status: 'ok' }))
  server.get('/ready', async () => {
    const state = (isReady() && (await withinReadyTime(findState(app)))) || 'down'
    if (typeof state === 'string') throw problem('NOT_READY', notReady[state])
    return { status: 'ready', ...state }
  })
  const readMetrics = metricsReader(app, metrics, siblings)
  server.get('/metrics', async ({ headers }, reply) => {
    checkMetricsToken(app.config.METRICS_TOKEN, headers.authorization)
    return reply.type(metrics.registry.contentType).send(await readMetrics())
  })
  if (app.config.ROLE === 'worker') return
  mountDocument(server, '/openapi.json', openapi)
  mountDocument(server, '/asyncapi.json', asyncapi)
  server.get('/.well-known/jwks.json', async () => publicKeys(app))
  mountAssets(server)
  mountConsole(server, app.config)
  if (app.config.OIDC_ISSUER) mountSso(app, server)
  await mountLinkPages(app, server)
  await mountOptOut(app, server)
  await mountCloudWebhooks(app, server)
  await mountCourierWebhooks(app, server)
  mountDocs(server)
  mountReference(server)
}

/** The document is generated on first use, because generating it would slow down the start. */
function mountDocument(server: FastifyInstance, path: string, generate: () => object) {
  let file: File | undefined
  server.get(path, async (request, reply) => {
    file ??= createFile('application/json; charset=utf-8', Buffer.from(JSON.stringify(generate())))
    return sendFile(file, request, reply.header('cache-control', 'no-cache'))
  })
}

const READY_TIMEOUT_MS = 3 * SECOND

const withinReadyTime = <T>(work: Promise<T>) =>
  Promise.race([work.catch(() => undefined), pause(READY_TIMEOUT_MS, undefined, { ref: false })])

const notReady = {
  down: 'The service is starting, or its database is unavailable.',
  full: 'The database does not accept writes: its disk is full. Free space on the volume of the database.',
  no_writes: 'The database responds, but does not accept writes. It may be a standby, or in recovery.',
}

/** Orders that wait to be sent to their lab, and open breaks of the audit log, or what is wrong with the database. */
async function findState(app: App) {
  const state = await databaseState(app)
  if (state !== 'up') return state
  const { due, oldest_seconds } = await dispatchBacklog(app.db, app.wall())
  return { orders_due: due, oldest_order_due_seconds: oldest_seconds, audit_breaks: await countOpenBreaks(app) }
}
