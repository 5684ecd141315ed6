import type { SourceSlug } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { cloudOf } from '../providers/clouds.ts'
import { prepareCredential as prepareRedirect } from '../team-sources/credentials.ts'
import { teamCallbackUrl } from './callback.ts'

/** Lists what a team must register at the source: the redirect URI, and the webhook URL if the source has no API for it. */
export async function prepareCredential(app: App, caller: ManagementCaller, wanted: { team_id: string; provider: SourceSlug }) {
  const prepared = await prepareRedirect(app, caller, wanted)
  if (!cloudOf(wanted.provider)?.registersByHand) return prepared
  const description = 'Register this as the webhook URL of your application at the source. Treat it as a secret.'
  const step = { type: 'webhook_uri', key: null, value: await teamCallbackUrl(app, wanted.team_id, wanted.provider), description }
  return { ...prepared, preparation_steps: [...prepared.preparation_steps, step] }
}
