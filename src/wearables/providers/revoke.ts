import type { App } from '../../platform/app.ts'
import { openCloud } from './call.ts'
import { isCloudError } from './cloud.ts'
import { cloudOf } from './clouds.ts'
import { renewTokens, revokeToken } from './oauth.ts'
import type { Client } from './rules-oauth.ts'

type Tokens = { access_token: string; refresh_token: string | null }
type EndedAccount = { external_user_id: string | null; tokens: Tokens; scopes: string[] }

/**
 * Ends the access at the source, in its own form or by RFC 7009. Returns false if it must be retried.
 * `save` stores tokens that had to be renewed, because a retry needs them.
 */
export async function endAccess(
  app: App,
  client: Client,
  provider: string,
  { external_user_id, tokens, scopes }: EndedAccount,
  save?: (tokens: Tokens) => Promise<unknown>,
): Promise<boolean> {
  const disconnect = cloudOf(provider)?.disconnect
  if (!disconnect || !client.api_url) return revokeToken(app, client, tokens.refresh_token ?? tokens.access_token)
  const renew = async () => {
    const { refresh_token } = tokens
    const response = refresh_token && save ? await renewTokens(app, client, { refresh_token, scopes }) : undefined
    if (response?.state !== 'granted') return undefined
    await save?.({ access_token: response.granted.access_token, refresh_token: response.granted.refresh_token })
    return response.granted.access_token
  }
  const { call, close } = openCloud(app, provider, client, { token: tokens.access_token, renew })
  try {
    await disconnect(call, { tokens, account: external_user_id, client, now: app.wall() })
    return true
  } catch (error) {
    if (!isCloudError(error)) throw error
    // Another request would not change a refusal.
    return error.fault !== 'unavailable' && error.fault !== 'rate_limited'
  } finally {
    await close()
  }
}
