import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { sources } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { LinkCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { lockUser, requireUser, unwrapUserKey } from '../../tenants/users/actions.ts'
import { MFA_CODE, type SignIn, signIn, signInByEmail } from '../providers/rules-simulated.ts'
import { finishLink } from './connect.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type SignInOutcome = rules.Outcome | { state: 'pending_provider_mfa'; provider_mfa: { method: string; hint: string } }

/** Connects a source with a username and password. Neither is stored. */
export const connectByPassword = (
  app: App,
  caller: LinkCaller,
  provider: SourceSlug,
  credentials: { username: string; password: string },
) => connectWith(app, caller, provider, 'password', () => signIn(credentials))

/** Connects a source by an email address. The address is not stored. */
export const connectByEmail = (app: App, caller: LinkCaller, provider: SourceSlug, { email }: { email: string }) =>
  connectWith(app, caller, provider, 'email', () => signInByEmail(email))

const connectWith = (app: App, caller: LinkCaller, provider: SourceSlug, kind: 'password' | 'email', attempt: () => SignIn) =>
  inTransaction(app, async (app) => {
    const token = rules.checkToken(await store.getToken(app.db, caller.team_id, caller.key_id), app.wall())
    rules.checkCovered(token, provider)
    checkAdapter(app, provider)
    const outcome = attempt()
    if (outcome.state === 'mfa') return presentOutcome(token, provider, await requestCode(app, token, provider, outcome))
    if (outcome.state === 'error') return presentOutcome(token, provider, rules.linkFailed(outcome.error_type))
    return finish(app, token, provider, { kind, account: { external_user_id: outcome.external_user_id } })
  })

async function finish(app: App, token: store.LinkToken, provider: SourceSlug, linked: Parameters<typeof finishLink>[3]) {
  const outcome = await finishLink(app, token, provider, linked)
  if (outcome.state === 'error' && rules.isTokenFailure(outcome.error_type)) throw rules.tokenProblem(outcome.error_type)
  return presentOutcome(token, provider, outcome, linked.account.external_user_id)
}

/** Only the sandbox has an adapter, and it is simulated. */
function checkAdapter(app: App, provider: SourceSlug) {
  if (app.config.ENVIRONMENT !== 'sandbox')
    throw problem('SOURCE_NOT_CONFIGURED', `${sources[provider].name} cannot be connected here: this deployment has no adapter for it.`)
}

type PendingMfa = SignIn & { state: 'mfa' }

async function requestCode(app: App, token: store.LinkToken, provider: SourceSlug, { method, hint, external_user_id }: PendingMfa) {
  const user = await requireUser(app, token.team_id, token.user_id)
  const mfa_sealed = seal(await unwrapUserKey(app, user), associatedData(token.id), { external_user_id })
  await store.updateToken(app.db, token, { mfa_provider: provider, mfa_tries: 0, mfa_sealed })
  return { state: 'pending_provider_mfa' as const, provider_mfa: { method, hint } }
}

/** Checks an MFA code. After five wrong codes the sign-in starts over. */
export const completeMfa = (app: App, { team_id, user_id, key_id }: LinkCaller, provider: SourceSlug, code: string) =>
  inTransaction(app, async (app) => {
    // The user is locked before the token, as everywhere.
    const user = await lockUser(app, team_id, user_id)
    const token = rules.checkToken(await store.lockToken(app.db, team_id, key_id), app.wall())
    if (token.mfa_provider !== provider || !token.mfa_sealed)
      throw problem(
        'NO_SIGN_IN_WAITING',
        'No sign-in at this source is waiting for a code. Start with POST /v2/link/provider/password/{provider}.',
      )
    if (code !== MFA_CODE) return presentOutcome(token, provider, await countWrongCode(app, token))
    const account = open<{ external_user_id: string }>(await unwrapUserKey(app, user), associatedData(token.id), token.mfa_sealed)
    return finish(app, token, provider, { kind: 'password', account })
  })

async function countWrongCode(app: App, token: store.LinkToken) {
  const mfa_tries = token.mfa_tries + 1
  const reset = mfa_tries >= rules.MAX_WRONG_CODES ? { mfa_provider: null, mfa_sealed: null } : {}
  await store.updateToken(app.db, token, { mfa_tries, ...reset })
  return rules.linkFailed('incorrect_mfa_code')
}

/** The last three fields of the response are for older clients. */
function presentOutcome(token: store.LinkToken, provider: SourceSlug, outcome: SignInOutcome, external_user_id: string | null = null) {
  const { error_type = null, error = null } = 'error' in outcome ? outcome : {}
  const finalOutcome = outcome.state === 'success' || (outcome.state === 'error' && token.on_error) ? outcome : undefined
  return {
    ...{ state: outcome.state, error_type, error, provider_mfa: 'provider_mfa' in outcome ? outcome.provider_mfa : null },
    redirect_url: finalOutcome && token.redirect_url ? rules.returnUrl(token.redirect_url, finalOutcome) : null,
    ...{ provider, connected: outcome.state === 'success', provider_id: external_user_id },
  }
}

const associatedData = (id: string) => `link_tokens.mfa_sealed.${id}`
