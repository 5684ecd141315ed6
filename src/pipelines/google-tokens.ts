import type { GoogleAuth } from 'google-auth-library'
import { coded } from '../webhooks/pools.ts'
import type { Failure } from './rules-failure.ts'

const SCOPE = 'https://www.googleapis.com/auth/pubsub'

export type Tokens = {
  current(): Promise<string>
  /** One that is not this one, which was refused. */
  after(refused: string): Promise<string>
}

/** Tokens of the identity of the deployment, by Application Default Credentials. They are kept until shortly before they end. */
export function googleTokens(): Tokens {
  let auth: Promise<GoogleAuth> | undefined
  let last: string | undefined

  async function current() {
    // Loaded with the first topic: most deployments have none. Every topic names its project, so nobody need look for one.
    auth ??= import('google-auth-library').then(({ GoogleAuth }) => new GoogleAuth({ scopes: SCOPE, projectId: 'none' }))
    const token = await (await auth).getAccessToken().catch(() => undefined)
    if (token) {
      last = token
      return token
    }
    // What the library says may quote what it was given, so it is not passed on.
    auth = undefined
    throw coded('credentials' satisfies Failure)
  }

  function after(refused: string) {
    // Many are refused together. The first of them lets everything go that the library keeps, and the others wait with it.
    if (last === refused) {
      auth = undefined
      last = undefined
    }
    return current()
  }

  return { current, after }
}
