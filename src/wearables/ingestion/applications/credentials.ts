import type { SourceSlug } from '../../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../../platform/app.ts'
import type { ManagementCaller } from '../../../platform/callers.ts'
import { cloudOf } from '../../providers/clouds.ts'
import * as credentials from '../../team-sources/credentials.ts'
import { deploymentCallbackUrl, teamCallbackUrl } from '../callback.ts'
import { changeApplication, PULL_FEEDS } from '../schedule.ts'

/** Creates or updates the credentials of a team at a source. Its connections use them at once. */
export async function putCredential(app: App, caller: ManagementCaller, wanted: Parameters<typeof credentials.putCredential>[2]) {
  const credential = await inTransaction(app, async (app) => {
    const credential = await credentials.putCredential(app, caller, wanted)
    await changeApplication(app, wanted.team_id, wanted.provider)
    return credential
  })
  app.wake('job', PULL_FEEDS)
  return credential
}

/** Deletes credentials. Connections of their teams use the application of the deployment at once, if there is one. */
export async function deleteCredentials(app: App, caller: ManagementCaller, ids: string[]) {
  const { deleted, ...result } = await inTransaction(app, async (app) => {
    const outcome = await credentials.deleteCredentials(app, caller, ids)
    for (const { team_id, provider } of outcome.deleted) await changeApplication(app, team_id, provider)
    return outcome
  })
  if (deleted.length) app.wake('job', PULL_FEEDS)
  return result
}

/** Lists what a team must register at the source: the redirect URI, and the webhook URL if the source has no API for it. */
export async function prepareCredential(app: App, caller: ManagementCaller, wanted: { team_id: string; provider: SourceSlug }) {
  const prepared = await credentials.prepareCredential(app, caller, wanted)
  if (!cloudOf(wanted.provider)?.registersByHand) return prepared
  const step = webhookStep(await teamCallbackUrl(app, wanted.team_id, wanted.provider))
  return { ...prepared, preparation_steps: [...prepared.preparation_steps, step] }
}

/** Lists the same for the application of the deployment. */
export const deploymentSteps = (app: App, provider: SourceSlug) => [
  credentials.redirectStep(app),
  ...(cloudOf(provider)?.registersByHand ? [webhookStep(deploymentCallbackUrl(app, provider))] : []),
]

const webhookStep = (value: string) => ({
  ...{ type: 'webhook_uri', key: null, value },
  description: 'Register this as the webhook URL of your application at the source. Treat it as a secret.',
})
