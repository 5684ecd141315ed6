import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { sources } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { LinkCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { requireUser, unwrapUserKey } from '../../tenants/users/actions.ts'
import { RIGHT_CODE, type SignIn, signIn, signInByEmail } from '../providers/rules-simulated.ts'
import { finishLink } from './connect.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type Answer = rules.Outcome | { state: 'pending_provider_mfa'; provider_mfa: { method: string; hint: string } }

/** Connects a source with a username and password. Neither is stored. */
export const connectByPassword = (app: App, caller: LinkCaller, provider: SourceSlug, sent: { username: string; password: string }) =>
  enter(app, caller, provider, 'password', () => signIn(sent))

/** Connects a source by an email address. The address is not stored. */
export const connectByEmail = (app: App, caller: LinkCaller, provider: SourceSlug, { email }: { email: string }) =>
  enter(app, caller, provider, 'email', () => signInByEmail(email))

const enter = (app: App, caller: LinkCaller, provider: SourceSlug, kind: 'password' | 'email', ask: () => SignIn) =>
  inTransaction(app, async (app) => {
    const token = await store.getToken(app.db, caller.team_id, caller.key_id)
    rules.checkWanted(token, provider)
    checkAdapter(app, provider)
    const answer = ask()
    if (answer.state === 'mfa') return shown(token, provider, await waitForCode(app, token, provider, answer))
    if (answer.state === 'error') return shown(token, provider, rules.linkFailed(answer.error_type))
    return finished(app, token, provider, { kind, account: { external_user_id: answer.external_user_id } })
  })

const finished = async (app: App, token: store.LinkToken, provider: SourceSlug, made: Parameters<typeof finishLink>[3]) =>
  shown(token, provider, await finishLink(app, token, provider, made), made.account.external_user_id)

/** Only the sandbox has an adapter, and it is simulated. */
function checkAdapter(app: App, provider: SourceSlug) {
  if (app.config.ENVIRONMENT !== 'sandbox')
    throw problem('SOURCE_NOT_CONFIGURED', `${sources[provider].name} cannot be connected here: this deployment has no adapter for it.`)
}

type Waiting = SignIn & { state: 'mfa' }

async function waitForCode(app: App, token: store.LinkToken, provider: SourceSlug, { method, hint, external_user_id }: Waiting) {
  const user = await requireUser(app, token.team_id, token.user_id)
  const mfa_sealed = seal(await unwrapUserKey(app, user), associatedData(token.id), { external_user_id })
  await store.updateToken(app.db, token, { mfa_provider: provider, mfa_tries: 0, mfa_sealed })
  return { state: 'pending_provider_mfa' as const, provider_mfa: { method, hint } }
}

/** Checks an MFA code. After five wrong codes the sign-in starts over. */
export const completeMfa = (app: App, { team_id, key_id }: LinkCaller, provider: SourceSlug, code: string) =>
  inTransaction(app, async (app) => {
    const token = await store.lockToken(app.db, team_id, key_id)
    if (token.mfa_provider !== provider || !token.mfa_sealed)
      throw problem(
        'NO_SIGN_IN_WAITING',
        'No sign-in at this source is waiting for a code. Start with POST /v2/link/provider/password/{provider}.',
      )
    if (code !== RIGHT_CODE) return shown(token, provider, await countWrongCode(app, token))
    const user = await requireUser(app, team_id, token.user_id)
    const account = open<{ external_user_id: string }>(await unwrapUserKey(app, user), associatedData(token.id), token.mfa_sealed)
    return finished(app, token, provider, { kind: 'password', account })
  })

async function countWrongCode(app: App, token: store.LinkToken) {
  const mfa_tries = token.mfa_tries + 1
  const over = mfa_tries >= rules.WRONG_CODES ? { mfa_provider: null, mfa_sealed: null } : {}
  await store.updateToken(app.db, token, { mfa_tries, ...over })
  return rules.linkFailed('incorrect_mfa_code')
}

/** The response. The last three fields are for older clients. */
function shown(token: store.LinkToken, provider: SourceSlug, answer: Answer, external_user_id: string | null = null) {
  const { error_type = null, error = null } = 'error' in answer ? answer : {}
  const over = answer.state === 'success' || (answer.state === 'error' && token.on_error) ? answer : undefined
  return {
    ...{ state: answer.state, error_type, error, provider_mfa: 'provider_mfa' in answer ? answer.provider_mfa : null },
    redirect_url: over && token.redirect_url ? rules.returnUrl(token.redirect_url, over) : null,
    ...{ provider, connected: answer.state === 'success', provider_id: external_user_id },
  }
}

const associatedData = (id: string) => `link_tokens.mfa_sealed.${id}`
