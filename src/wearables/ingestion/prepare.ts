import type { SourceSlug } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { cloudOf } from '../providers/clouds.ts'
import { prepareCredential as prepareRedirect, redirectStep } from '../team-sources/credentials.ts'
import { deploymentCallbackUrl, teamCallbackUrl } from './callback.ts'

/** Lists what a team must register at the source: the redirect URI, and the webhook URL if the source has no API for it. */
export async function prepareCredential(app: App, caller: ManagementCaller, wanted: { team_id: string; provider: SourceSlug }) {
  const prepared = await prepareRedirect(app, caller, wanted)
  if (!cloudOf(wanted.provider)?.registersByHand) return prepared
  const step = webhookStep(await teamCallbackUrl(app, wanted.team_id, wanted.provider))
  return { ...prepared, preparation_steps: [...prepared.preparation_steps, step] }
}

/** Lists the same for the application of the deployment. */
export const deploymentSteps = (app: App, provider: SourceSlug) => [
  redirectStep(app),
  ...(cloudOf(provider)?.registersByHand ? [webhookStep(deploymentCallbackUrl(app, provider))] : []),
]

const webhookStep = (value: string) => ({
  ...{ type: 'webhook_uri', key: null, value },
  description: 'Register this as the webhook URL of your application at the source. Treat it as a secret.',
})
