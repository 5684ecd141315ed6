import { createHash } from 'node:crypto'

/** The outcome of a sign-in at a source. */
export type SignIn =
  | { state: 'connected'; external_user_id: string }
  | { state: 'mfa'; method: 'sms' | 'email'; hint: string; external_user_id: string }
  | { state: 'error'; error_type: 'provider_credential_error' | 'provider_password_expired' | 'provider_api_error' | 'unsupported_region' }

const outcomes: Record<string, Exclude<SignIn, { state: 'connected' }>['state'] | (SignIn & { state: 'error' })['error_type']> = {
  wrong: 'provider_credential_error',
  expired: 'provider_password_expired',
  unavailable: 'provider_api_error',
  elsewhere: 'unsupported_region',
  mfa: 'mfa',
}

export const MFA_CODE = '123456'

/** Sandbox sources accept any password, except those that select another outcome for tests. */
export function signIn({ username, password }: { username: string; password: string }): SignIn {
  const external_user_id = accountOf(username)
  const outcome = Object.hasOwn(outcomes, password) ? outcomes[password] : undefined
  if (!outcome || outcome === 'error') return { state: 'connected', external_user_id }
  if (outcome === 'mfa') return { state: 'mfa', method: 'sms', hint: 'the phone number that ends in 42', external_user_id }
  return { state: 'error', error_type: outcome }
}

/** The part of the email address before the @ selects the outcome, as the password does in `signIn`. */
export const signInByEmail = (email: string) => signIn({ username: email, password: email.split('@')[0] as string })

/** A username always maps to the same account. */
const accountOf = (username: string) => `simulated-${createHash('sha256').update(username.trim().toLowerCase()).digest('hex').slice(0, 16)}`
