import type { GoogleAuth } from 'google-auth-library'
import { errorWithCode } from '../../../platform/outbound/pools.ts'
import { SECOND } from '../../../platform/time.ts'
import type { Failure } from '../rules-failure.ts'
import { withTimeout } from './destination.ts'

const SCOPE = 'https://www.googleapis.com/auth/pubsub'
const TOKEN_TIMEOUT_MS = 10 * SECOND

export type Tokens = {
  current(signal?: AbortSignal): Promise<string>
  /** Returns a new token after this one was rejected. */
  renew(rejected: string, signal?: AbortSignal): Promise<string>
}

/** Tokens for the deployment's identity from Application Default Credentials, cached until shortly before they expire. */
export function googleTokens(): Tokens {
  let auth: Promise<GoogleAuth> | undefined
  let lastToken: string | undefined

  async function current(signal?: AbortSignal) {
    // Imported on first use, because most deployments have no topic. Every topic names its project, so the library needs none.
    auth ??= import('google-auth-library').then(({ GoogleAuth }) => new GoogleAuth({ scopes: SCOPE, projectId: 'none' }))
    const client = auth
    const request = client.then((auth) => auth.getAccessToken())
    // The library's message may quote credentials, so it is not passed on.
    const token = await withTimeout(TOKEN_TIMEOUT_MS, request, () => 'credentials', signal).catch(() => undefined)
    if (token) {
      lastToken = token
      return token
    }
    // The library makes all callers wait for the first request, forever if no response comes.
    if (auth === client) auth = undefined
    throw errorWithCode('credentials' satisfies Failure)
  }

  function renew(rejected: string, signal?: AbortSignal) {
    // Many requests are rejected together. The first one clears the library's cache, and the others wait for it.
    if (lastToken === rejected) {
      auth = undefined
      lastToken = undefined
    }
    return current(signal)
  }

  return { current, renew }
}
