import type { GoogleAuth } from 'google-auth-library'
import { errorWithCode } from '../../../platform/outbound/pools.ts'
import { SECOND } from '../../../platform/time.ts'
import type { Failure } from '../rules-failure.ts'
import { within } from './destination.ts'

const SCOPE = 'https://www.googleapis.com/auth/pubsub'
const TOKEN_WITHIN = 10 * SECOND

export type Tokens = {
  current(ends?: AbortSignal): Promise<string>
  /** One that is not this one, which was refused. */
  after(refused: string, ends?: AbortSignal): Promise<string>
}

/** Tokens of the identity of the deployment, by Application Default Credentials. They are kept until shortly before they end. */
export function googleTokens(): Tokens {
  let auth: Promise<GoogleAuth> | undefined
  let last: string | undefined

  async function current(ends?: AbortSignal) {
    // Loaded with the first topic: most deployments have none. Every topic names its project, so nobody need look for one.
    auth ??= import('google-auth-library').then(({ GoogleAuth }) => new GoogleAuth({ scopes: SCOPE, projectId: 'none' }))
    const asked = auth
    const answer = asked.then((auth) => auth.getAccessToken())
    // What the library says may quote what it was given, so it is not passed on.
    const token = await within(TOKEN_WITHIN, answer, () => 'credentials', ends).catch(() => undefined)
    if (token) {
      last = token
      return token
    }
    // The library lets everybody wait for the first one that asked, for ever where no answer comes.
    if (auth === asked) auth = undefined
    throw errorWithCode('credentials' satisfies Failure)
  }

  function after(refused: string, ends?: AbortSignal) {
    // Many are refused together. The first of them lets everything go that the library keeps, and the others wait with it.
    if (last === refused) {
      auth = undefined
      last = undefined
    }
    return current(ends)
  }

  return { current, after }
}
