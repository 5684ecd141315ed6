import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type App, SECOND } from '../app.ts'
import { asyncapi } from '../contract/asyncapi.ts'
import { openapi } from '../contract/openapi.ts'
import { databaseAnswers } from '../deployment/actions.ts'
import { problem } from '../problem.ts'
import { mountAssets } from './assets.ts'
import { mountConsole } from './console.ts'
import { mountDocs } from './docs.ts'
import { mountLinkPages } from './link-pages.ts'
import type { Metrics } from './metrics.ts'
import { mountReference } from './reference.ts'

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
  mountDocs(server)
  await mountReference(server)
}

const READY_WITHIN = 3 * SECOND

const answersSoon = (app: App) => Promise.race([databaseAnswers(app), pause(READY_WITHIN, false, { ref: false })])
