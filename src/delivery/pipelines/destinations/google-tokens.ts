import type { GoogleAuth } from 'google-auth-library'
import { errorWithCode } from '../../../platform/outbound/pools.ts'
import { SECOND } from '../../../platform/time.ts'
import type { Failure } from '../rules-failure.ts'
import { within } from './destination.ts'

const SCOPE = 'https://www.googleapis.com/auth/pubsub'
const TOKEN_WITHIN = 10 * SECOND

export type Tokens = {
  current(ends?: AbortSignal): Promise<string>
  /** A token other than this rejected one. */
  after(refused: string, ends?: AbortSignal): Promise<string>
}

/** Tokens for the deployment's identity from Application Default Credentials, cached until shortly before they expire. */
export function googleTokens(): Tokens {
  let auth: Promise<GoogleAuth> | undefined
  let last: string | undefined

  async function current(ends?: AbortSignal) {
    // Loaded with the first topic, because most deployments have none. Every topic names its project, so none is looked up.
    auth ??= import('google-auth-library').then(({ GoogleAuth }) => new GoogleAuth({ scopes: SCOPE, projectId: 'none' }))
    const asked = auth
    const answer = asked.then((auth) => auth.getAccessToken())
    // The library's message may quote credentials, so it is not passed on.
    const token = await within(TOKEN_WITHIN, answer, () => 'credentials', ends).catch(() => undefined)
    if (token) {
      last = token
      return token
    }
    // The library makes all callers wait for the first request, forever if no response comes.
    if (auth === asked) auth = undefined
    throw errorWithCode('credentials' satisfies Failure)
  }

  function after(refused: string, ends?: AbortSignal) {
    // Many requests are rejected together. The first one clears the library's cache, and the others wait for it.
    if (last === refused) {
      auth = undefined
      last = undefined
    }
    return current(ends)
  }

  return { current, after }
}
