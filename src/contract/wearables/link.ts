import { z } from 'zod'
import { Email, Id, openEnum, Text } from '../common.ts'
import { deprecated, FIRST_RELEASE } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, Safe, safe } from '../personal.ts'
import { authTypes, sourceTypes } from '../tenants/source.ts'
import { EmailSourceIn, OAuthSourceIn, PasswordSourceIn, SourceIn } from '../tenants/sources.ts'

const Redirect = z.literal('redirect').nullish()

const NewLinkToken = z
  .object({
    user_id: Id,
    provider: SourceIn.nullish().describe('Goes straight to this source.'),
    redirect_url: z.string().nullish().describe('Where the browser goes in the end: https, or http on this machine in the sandbox.'),
    filter_on_providers: z.array(SourceIn).min(1).max(100).nullish().describe('Offers these sources only.'),
    on_error: Redirect.describe('`redirect` leads back to redirect_url when connecting fails, too.'),
    on_close: Redirect.describe('`redirect` leads back to redirect_url when the user closes the page, too.'),
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
  .object({ ...source, form_components: z.record(Safe, safe(z.unknown())).describe('What the user is asked for.') })
  .meta({ id: 'LinkSource' })

export const StartedSource = z
  .object({
    ...source,
    group: Safe.nullable(),
    source_type: openEnum(sourceTypes),
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
    redirect_url: Safe.nullable().describe('Where to go now.'),
    error_type: openEnum(linkErrorTypes).nullable(),
    error: Safe.nullable().describe('What to tell the user.'),
    provider_mfa: z.object({ method: openEnum(['sms', 'email']), hint: PersonalText }).nullable(),
    provider: deprecated(Safe, 'The request names the provider.'),
    connected: deprecated(z.boolean(), 'Use `state`.'),
    provider_id: deprecated(PersonalText.nullable(), 'There is no replacement.'),
  })
  .meta({ id: 'LinkOutcome' })

export const signIn = { username: Text(320), password: Text(1000) }
export const Region = Text(10).nullish().describe('Where the account is, as a country of two letters.')

const link = { auth: 'link', tag: 'Link', subjects: { user_id: 'caller.user_id' } } as const
const notHere = { 400: 'The token is for other sources, or the source is not set up here.' }

export const linkEndpoints = {
  createLinkToken: endpoint({
    auth: 'team',
    tag: 'Link',
    method: 'post',
    path: '/v2/link/token',
    summary: 'Make a link token',
    subjects: { user_id: 'body.user_id' },
    description:
      'With it an end user connects one source for one user: at `link_web_url`, or through the routes that take the token. Good for 60 minutes and one connection.',
    body: NewLinkToken,
    returns: z.object({ link_token: Safe, link_web_url: Safe }).meta({ id: 'LinkToken' }),
    refusals: { 404: 'No such user in this team, or the user is scheduled for deletion.' },
  }),
  checkLinkToken: endpoint({
    auth: 'team',
    tag: 'Link',
    method: 'post',
    path: '/v2/link/token/isValid',
    reads: true,
    deprecated: { since: FIRST_RELEASE, instead: 'Call the route that takes the token. Its error says why a token cannot be used.' },
    summary: 'Check a link token',
    subjects: {},
    body: z.object({ token: Text(200) }).meta({ id: 'LinkTokenToCheck' }),
    returns: z.object({ valid: z.boolean() }).meta({ id: 'LinkTokenValidity' }),
  }),
  listLinkSources: endpoint({
    ...link,
    method: 'get',
    path: '/v2/link/providers',
    summary: 'List the sources that the token connects',
    description: 'Those that the token is for and that are set up here. Sources that push are connected from a phone.',
    returns: z.array(LinkSource),
  }),
  startOAuth: endpoint({
    ...link,
    method: 'get',
    path: '/v2/link/provider/oauth/{oauth_provider}',
    summary: 'Begin to connect a source by OAuth',
    description:
      'Send the user to `oauth_url`. In the end the browser goes to the redirect_url of the token with `state=success`, or `state=error`, `error_type` and `error`.',
    params: z.object({ oauth_provider: OAuthSourceIn }),
    returns: StartedSource,
    refusals: { ...notHere, 429: 'The token was used to begin too often.' },
  }),
  connectByPassword: endpoint({
    ...link,
    method: 'post',
    path: '/v2/link/provider/password/{provider}',
    summary: 'Connect a source by user name and password',
    description:
      'What goes wrong at the source is an answer with `state` error. In the sandbox the passwords `wrong`, `expired`, `unavailable`, `elsewhere` and `mfa` stand for outcomes, and every other one is right.',
    params: z.object({ provider: PasswordSourceIn }),
    body: z.object({ ...signIn, region: Region }).meta({ id: 'SourceSignIn' }),
    returns: LinkOutcome,
    refusals: notHere,
  }),
  completeMfa: endpoint({
    ...link,
    method: 'post',
    path: '/v2/link/provider/password/{provider}/complete_mfa',
    summary: 'Send the code that the source sent to the user',
    description: 'After five wrong ones the sign-in begins anew. In the sandbox 123456 is right.',
    params: z.object({ provider: PasswordSourceIn }),
    body: z.object({ mfa_code: Text(50) }).meta({ id: 'SourceCode' }),
    returns: LinkOutcome,
    refusals: { 400: 'No sign-in waits for a code.' },
  }),
  connectByEmail: endpoint({
    ...link,
    method: 'post',
    path: '/v2/link/provider/email/{provider}',
    summary: 'Connect a source by an e-mail address',
    description: 'In the sandbox the part before the @ stands for the outcome, as a password does.',
    params: z.object({ provider: EmailSourceIn }),
    body: z.object({ email: Email, provider: z.string().nullish(), region: Region }).meta({ id: 'SourceEmail' }),
    returns: LinkOutcome,
    refusals: notHere,
  }),
}
