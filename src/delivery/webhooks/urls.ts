import type { App } from '../../platform/app.ts'
import { openSecrets } from './endpoints.ts'
import * as store from './store.ts'

/** The URLs of a few enabled webhooks of any team. */
export async function listSomeUrls(app: App, limit: number) {
  const webhooks = await store.listEnabled(app.db, limit)
  return Promise.all(webhooks.map(async (webhook) => (await openSecrets(app, webhook)).url))
}
