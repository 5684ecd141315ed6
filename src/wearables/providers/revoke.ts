import type { App } from '../../platform/app.ts'
import { openCloud } from './call.ts'
import { isCloudError } from './cloud.ts'
import { cloudOf } from './clouds.ts'
import { revokeToken } from './oauth.ts'
import type { Client } from './rules-oauth.ts'

type Tokens = { access_token: string; refresh_token: string | null }

/** Ends the access at the source, in its own form or by RFC 7009. Returns false if it must be retried. */
export async function endAccess(app: App, client: Client, provider: string, tokens: Tokens): Promise<boolean> {
  const disconnect = cloudOf(provider)?.disconnect
  if (!disconnect || !client.api_url) return revokeToken(app, client, tokens.refresh_token ?? tokens.access_token)
  const { call, close } = openCloud(app, client.api_url)
  try {
    await disconnect(call, tokens)
    return true
  } catch (error) {
    if (!isCloudError(error)) throw error
    // Another request would not change a refusal.
    return error.fault !== 'unavailable' && error.fault !== 'rate_limited'
  } finally {
    await close()
  }
}
