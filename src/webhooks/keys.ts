import { type App, inTransaction, type ManagementCaller } from '../app.ts'
import { problem } from '../problem.ts'
import { keep, requireWebhook } from './actions.ts'
import { openSecrets, stillSigning, validAt } from './endpoints.ts'
import { jwkOf, newKeyPair, publicKeyOf } from './sign-ed25519.ts'
import * as store from './store.ts'

type Path = { team_id: string; webhook_id: string }

export const rotateWebhookKey = (app: App, caller: ManagementCaller, path: Path) =>
  inTransaction(app, async (app) => {
    const webhook = await requireWebhook(app, caller, path, store.lockWebhook)
    const known = await openSecrets(app, webhook)
    if (!known.pairs?.length)
      throw problem('WEBHOOK_NOT_ASYMMETRIC', 'The webhook has no ed25519 key; set asymmetric to true, and it gets one.')
    const { private_key } = newKeyPair()
    await keep(app, webhook, { ...known, pairs: [{ private_key, until: null }, ...stillSigning(known.pairs, app.wall())] })
  })

/** For anybody, as public keys are. The ids of webhooks cannot be guessed, and one without keys is as unknown as one that never was. */
export async function getWebhookJwks(app: App, webhook_id: string) {
  const [webhook] = await store.findByIds(app.db, [webhook_id])
  const { pairs = [] } = webhook && !webhook.deleted_at ? await openSecrets(app, webhook) : {}
  const keys = validAt(pairs, app.wall()).map(({ private_key }) => publicKeyOf(private_key))
  if (!keys.length) throw problem('WEBHOOK_NOT_FOUND', 'There is no such webhook, or it has no public key; set asymmetric to true on it.')
  return { keys: keys.map((kid) => ({ ...jwkOf(kid), kid, use: 'sig', alg: 'EdDSA' }) as const) }
}
