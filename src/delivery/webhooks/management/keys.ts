import type { App } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { problem } from '../../../platform/problem.ts'
import { changeDelivery } from '../../events/change-log.ts'
import { keysValidAt, oldKeysAfterRotation, openSecrets, type Secrets, sealSecrets } from '../endpoints.ts'
import { newSecret, parseSecret } from '../sign.ts'
import { jwkOf, publicKeyOf } from '../sign-ed25519.ts'
import * as store from '../store.ts'
import { newSigningPair, requireWebhook, type WebhookPath } from './actions.ts'

export async function getWebhookSecret(app: App, caller: ManagementCaller, path: WebhookPath) {
  const { keys } = await openSecrets(app, await requireWebhook(app, caller, path))
  return { key: keys[0]?.key as string }
}

export const rotateWebhookSecret = (app: App, caller: ManagementCaller, path: WebhookPath, secret: string | null | undefined) =>
  changeSecrets(app, caller, path, (secrets) => {
    const key = secret ?? newSecret()
    parseSecret(key)
    const old = oldKeysAfterRotation(secrets.keys, app.wall())
    return { ...secrets, keys: [{ key, until: null }, ...old.filter((oldKey) => oldKey.key !== key)] }
  })

export const rotateWebhookKey = (app: App, caller: ManagementCaller, path: WebhookPath) =>
  changeSecrets(app, caller, path, (secrets) => {
    if (!secrets.pairs?.length)
      throw problem('WEBHOOK_NOT_ASYMMETRIC', 'This webhook has no Ed25519 key. Set asymmetric to true to create one.')
    return { ...secrets, pairs: [newSigningPair(), ...oldKeysAfterRotation(secrets.pairs, app.wall())] }
  })

export async function changeSecrets(app: App, caller: ManagementCaller, path: WebhookPath, change: (secrets: Secrets) => Secrets) {
  await requireWebhook(app, caller, path)
  await changeDelivery(app, path.team_id, async (app) => {
    const webhook = await requireWebhook(app, caller, path, store.lockWebhook)
    const sealed = await sealSecrets(app, webhook, change(await openSecrets(app, webhook)))
    await store.updateWebhook(app.db, webhook.team_id, webhook.id, { updated_at: app.wall(), sealed })
  })
}

/** Public, like any key list. Webhook IDs cannot be guessed, and a webhook without keys looks like one that does not exist. */
export async function getWebhookJwks(app: App, webhook_id: string) {
  const found = await store.findTeamOf(app.db, webhook_id)
  const webhook = found && (await store.findWebhook(app.db, found.team_id, webhook_id))
  const { pairs = [] } = webhook ? await openSecrets(app, webhook) : {}
  const keys = keysValidAt(pairs, app.wall()).map(({ private_key }) => publicKeyOf(private_key))
  if (!keys.length)
    throw problem('WEBHOOK_NOT_FOUND', 'No such webhook, or it has no public key. Set asymmetric to true on the webhook to create one.')
  return { keys: keys.map((kid) => ({ ...jwkOf(kid), kid, use: 'sig', alg: 'EdDSA' }) as const) }
}
