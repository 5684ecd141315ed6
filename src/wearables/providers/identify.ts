import type { App } from '../../platform/app.ts'
import { openCloud } from './call.ts'
import { isCloudError } from './cloud.ts'
import { cloudOf } from './clouds.ts'
import type { Client, GrantedTokens } from './rules-oauth.ts'

type Identity = { state: 'known'; external_user_id: string | null } | { state: 'unknown' }

/** Whose account the tokens belong to. Some sources say it in the token response, others on request. */
export async function identifyAccount(app: App, client: Client, provider: string, granted: GrantedTokens): Promise<Identity> {
  const identify = cloudOf(provider)?.identify
  if (granted.external_user_id || !identify || !client.api_url) return { state: 'known', external_user_id: granted.external_user_id }
  const { call, close } = openCloud(app, provider, client, { token: granted.access_token })
  try {
    return { state: 'known', external_user_id: await identify(call) }
  } catch (error) {
    if (!isCloudError(error)) throw error
    app.log.warn({ provider, fault: error.fault }, 'source did not identify the account')
    return { state: 'unknown' }
  } finally {
    await close()
  }
}
