import { randomBytes, randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { createClient } from '../src/contract/client.ts'
import { eventTypes } from '../src/contract/events.ts'
import { changeAtEnd } from '../src/delivery/events/change-log.ts'
import { eventRow } from '../src/delivery/events/emit.ts'
import { emitAll } from '../src/delivery/events/store.ts'
import { sealSecrets } from '../src/delivery/webhooks/endpoints.ts'
import { textOfSecret } from '../src/delivery/webhooks/sign.ts'
import { insertWebhook } from '../src/delivery/webhooks/store.ts'
import { insertCursor } from '../src/delivery/webhooks/store-positions.ts'
import { openService } from '../src/operations/deployment/open.ts'
import { type App, appOf } from '../src/platform/app.ts'
import { readConfig } from '../src/platform/config.ts'
import { userSealingKey } from '../src/platform/sealing/vault.ts'
import { openWakeUps } from '../src/platform/wake-ups/wake-ups.ts'
import type { Running, Site } from './site.ts'

const USERS = 100
export const SECRET = randomBytes(30)

export type Writer = Awaited<ReturnType<typeof openWriter>>

/** Writes events in this process like an API process, and wakes the delivering service. */
export async function openWriter(site: Site, running: Running, team_id: string) {
  const opened = new AsyncDisposableStack()
  const env = { DATABASE_URL: running.database, ENCRYPTION_KEY: site.encryptionKey, DATA_DIR: site.dataDir, DATABASE_POOL_SIZE: '8' }
  const { service } = await openService(readConfig(env), pino({ level: 'silent' }), () => Promise.reject(new Error('not embedded')), opened)
  const app = appOf(service)
  const wakeUps = await openWakeUps(service, () => {})
  const users = await createUsers(app, running, team_id)
  const newEvent = (key: string, event_type = 'labtest.order.created') => {
    const { key: sealing, user_id } = users[Math.floor(Math.random() * USERS)] as (typeof users)[number]
    const data = eventTypes['labtest.order.created'].example as never
    return eventRow(app, sealing, {
      team_id,
      user_id,
      client_user_id: 'bench',
      event_type: event_type as 'labtest.order.created',
      key,
      data,
      at: app.wall(),
    })
  }
  return {
    app,
    /** Writes one event in its own transaction and returns its ID after the commit. */
    async emitEvent(key: string, event_type?: string) {
      const event = newEvent(key, event_type)
      await emitAll(app.db, team_id, [event])
      app.wake('team log', team_id)
      return event.id
    },
    close: async () => {
      await wakeUps.stop()
      await opened.disposeAsync()
    },
  }
}

async function createUsers(app: App, running: Running, team_id: string) {
  const api = createClient(running.url, running.headers)
  const users = []
  for (let i = 0; i < USERS; i++) {
    const { user_id } = await api.createUser({ body: { client_user_id: `bench-${i}` } })
    users.push({ user_id, key: (await userSealingKey(app, team_id, user_id)) as NonNullable<Awaited<ReturnType<typeof userSealingKey>>> })
  }
  return users
}

/** A webhook that begins at the end of the log. */
export async function createWebhook(app: App, team_id: string, url: string, filter_types: string[] | null = null) {
  const id = randomUUID()
  const at = app.wall()
  const secrets = { keys: [{ key: textOfSecret(SECRET), until: null }], headers: {}, sensitive: [], url }
  const sealed = await sealSecrets(app, { id, team_id }, secrets)
  const fixed = { description: '', rate_limit: null, ordering: 'per_key' as const, created_at: at, updated_at: at, disabled_at: null }
  await changeAtEnd(app, team_id, async (app, end) => {
    await insertWebhook(app.db, { id, team_id, filter_types, sealed, ...fixed })
    await insertCursor(app.db, { team_id, webhook_id: id, after_no: end.no, after_at: end.at })
  })
  return id
}
