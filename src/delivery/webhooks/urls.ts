import { type App, inTransaction } from '../../platform/app.ts'
import { beginLateChange, hasBegun, type LateChange } from '../../platform/db/schema/late-changes.ts'
import { openSecrets, type Secrets, sealSecrets, urlOf } from './endpoints.ts'
import * as store from './store.ts'

/** Earlier versions read URLs from the column `url`, which is empty once the URL is encrypted. */
const encryptedUrls: LateChange = { name: '0012_webhook_urls.encrypted', after: '0012_webhook_urls.sql' }

type WebhookKey = { id: string; team_id: string }

/** The columns that hold the secrets and the URL of a webhook. */
export async function secretColumns(app: App, webhook: WebhookKey, { url: _, ...secrets }: Secrets, url: string) {
  const isEncrypted = await hasBegun(app.db, encryptedUrls)
  return isEncrypted
    ? { url: '', sealed: await sealSecrets(app, webhook, { ...secrets, url }) }
    : { url, sealed: await sealSecrets(app, webhook, secrets) }
}

const BATCH_SIZE = 100

/** Encrypts the URLs that an earlier version stored as text. Returns whether there may be more. */
export async function encryptUrls(app: App) {
  if (!(await beginLateChange(app.db, encryptedUrls, app.wall()))) return false
  const webhooks = await store.listWithTextUrl(app.db, BATCH_SIZE)
  for (const { team_id, id } of webhooks) await encryptUrl(app, team_id, id)
  return webhooks.length === BATCH_SIZE
}

const encryptUrl = (app: App, team_id: string, id: string) =>
  inTransaction(app, async (app) => {
    const webhook = await store.lockHealth(app.db, team_id, id)
    if (!webhook?.url) return
    const secrets = await openSecrets(app, webhook)
    await store.updateWebhook(app.db, team_id, id, await secretColumns(app, webhook, secrets, webhook.url))
  })

/** The URLs of a few enabled webhooks of any team. */
export async function listSomeUrls(app: App, limit: number) {
  const webhooks = await store.listEnabled(app.db, limit)
  return Promise.all(webhooks.map(async (webhook) => urlOf(webhook, await openSecrets(app, webhook))))
}
