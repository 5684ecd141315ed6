import { z } from 'zod'
import { Email, Id, openEnum, Text } from '../common.ts'
import { deprecated, FIRST_RELEASE } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, Safe, safe } from '../personal.ts'
import { authTypes, catalogSourceTypes } from '../tenants/source.ts'
import { EmailSourceIn, OAuthSourceIn, PasswordSourceIn, SourceIn } from '../tenants/sources.ts'
import { userNotFound } from '../tenants/users.ts'

const Redirect = z.literal('redirect').nullish()

const NewLinkToken = z
  .object({
    user_id: Id,
    provider: SourceIn.nullish().describe('Opens the page of this source directly.'),
    redirect_url: z
      .string()
      .nullish()
      .describe('Where the browser goes afterwards. Must be https; the sandbox also allows http on loopback addresses.'),
    filter_on_providers: z.array(SourceIn).min(1).max(100).nullish().describe('Offers only these sources.'),
    on_error: Redirect.describe('`redirect` also returns to redirect_url if the connection fails.'),
    on_close: Redirect.describe('`redirect` also returns to redirect_url if the user closes the page.'),
  })
  .meta({ id: 'NewLinkToken' })

const source = {
  id: z.int(),
  name: Safe,
  slug: Safe,
  description: Safe,
  logo: Safe,
  oauth_url: Safe.nullable(),
  auth_type: openEnum(authTypes),
}

const LinkSource = z
  .object({ ...source, form_components: z.record(Safe, safe(z.unknown())).describe('The form fields that the source needs.') })
  .meta({ id: 'LinkSource' })

export const StartedSource = z
  .object({
    ...source,
    group: Safe.nullable(),
    source_type: openEnum(catalogSourceTypes),
    is_active: z.boolean(),
    backfill_num_days: z.int().nullable(),
  })
  .meta({ id: 'StartedSource' })

export const linkErrorTypes = [
  'invalid_token',
  'token_expired',
  'token_not_validated',
  'token_consumed',
  'provider_credential_error',
  'provider_password_expired',
  'provider_api_error',
  'unsupported_region',
  'duplicate_connection',
  'required_scopes_not_granted',
  'incorrect_mfa_code',
  'user_cancelled',
] as const

export const LinkOutcome = z
  .object({
    state: openEnum(['success', 'error', 'pending_provider_mfa']),
    redirect_url: Safe.nullable().describe('Where to send the browser next.'),
    error_type: openEnum(linkErrorTypes).nullable(),
    error: Safe.nullable().describe('A message to show to the user.'),
    provider_mfa: z.object({ method: openEnum(['sms', 'email']), hint: PersonalText }).nullable(),
    provider: deprecated(Safe, 'The request names the provider.'),
    connected: deprecated(z.boolean(), 'Use `state`.'),
    provider_id: deprecated(PersonalText.nullable(), 'There is no replacement.'),
  })
  .meta({ id: 'LinkOutcome' })

export const signIn = { username: Text(320), password: Text(1000) }
export const Region = Text(10).nullish().describe('The country of the account, as a two-letter code.')

const link = { auth: 'link', tag: 'Link', subjects: { user_id: 'caller.user_id' } } as const
export const sourceNotAvailable = { 400: 'The token does not cover this source, or the source is not set up in this deployment.' }

export const linkEndpoints = {
  createLinkToken: endpoint({
    auth: 'team',
    tag: 'Link',
    grantsAccess: true,
    method: 'post',
    path: '/v2/link/token',
    summary: 'Create a link token',
    subjects: { user_id: 'body.user_id' },
    description:
      'Send the user to `link_web_url`, or call the Link endpoints with the token. A token works for 60 minutes and one connection. Treat it as a secret.',
    body: NewLinkToken,
    returns: z.object({ link_token: Safe, link_web_url: Safe }).meta({ id: 'LinkToken' }),
    refusals: userNotFound,
  }),
  checkLinkToken: endpoint({
    auth: 'team',
    tag: 'Link',
    method: 'post',
    path: '/v2/link/token/isValid',
    reads: true,
    deprecated: { since: FIRST_RELEASE, instead: 'Call the endpoint that takes the token. Its error says why a token cannot be used.' },
    summary: 'Check a link token',
    subjects: {},
    body: z.object({ token: Text(200) }).meta({ id: 'LinkTokenCheck' }),
    returns: z.object({ valid: z.boolean() }).meta({ id: 'LinkTokenValidity' }),
  }),
  listLinkSources: endpoint({
    ...link,
    method: 'get',
    path: '/v2/link/providers',
    summary: 'List the sources of a link token',
    description:
      'Returns the sources that the token covers and that are set up in this deployment. Sources that push are not included; a phone connects them.',
    returns: z.array(LinkSource),
  }),
  startOAuth: endpoint({
    ...link,
    method: 'get',
    path: '/v2/link/provider/oauth/{oauth_provider}',
    summary: 'Start an OAuth connection',
    description:
      'Send the user to `oauth_url`. Afterwards the browser goes to the redirect_url of the token with `state=success`, or with `state=error`, `error_type` and `error`. A connection emits `provider.connection.created`.',
    params: z.object({ oauth_provider: OAuthSourceIn }),
    query: z.object({ region: Text(10).nullish().describe('Where the user has their account, for a source with several regions.') }),
    returns: StartedSource,
    refusals: { ...sourceNotAvailable, 429: 'The token was used to start a connection too often.' },
  }),
  connectByPassword: endpoint({
    ...link,
    method: 'post',
    path: '/v2/link/provider/password/{provider}',
    summary: 'Connect a source with a password',
    description:
      'A failed sign-in returns 200 with `state` set to `error`. In the sandbox the passwords `wrong`, `expired`, `unavailable`, `elsewhere` and `mfa` simulate outcomes; any other password succeeds.',
    params: z.object({ provider: PasswordSourceIn }),
    body: z.object({ ...signIn, region: Region }).meta({ id: 'SourceSignIn' }),
    returns: LinkOutcome,
    refusals: sourceNotAvailable,
  }),
  completeMfa: endpoint({
    ...link,
    method: 'post',
    path: '/v2/link/provider/password/{provider}/complete_mfa',
    summary: 'Complete a sign-in with an MFA code',
    description:
      'Send the code that the user received from the source. After five wrong codes, start the sign-in again. In the sandbox the code is 123456.',
    params: z.object({ provider: PasswordSourceIn }),
    body: z.object({ mfa_code: Text(50) }).meta({ id: 'SourceCode' }),
    returns: LinkOutcome,
    refusals: { 400: 'No sign-in is pending.' },
  }),
  connectByEmail: endpoint({
    ...link,
    method: 'post',
    path: '/v2/link/provider/email/{provider}',
    summary: 'Connect a source with an email address',
    description:
      'In the sandbox, the part before the @ selects the outcome, like the password in `POST /v2/link/provider/password/{provider}`.',
    params: z.object({ provider: EmailSourceIn }),
    body: z.object({ email: Email, provider: z.string().nullish(), region: Region }).meta({ id: 'SourceEmail' }),
    returns: LinkOutcome,
    refusals: sourceNotAvailable,
  }),
}
