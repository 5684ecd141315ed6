import { z } from 'zod'
import { Email, Instant, Text } from '../common.ts'
import { FIRST_RELEASE } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { EmailSourceIn, PasswordSourceIn, SourceIn } from '../tenants/sources.ts'
import { LinkOutcome, Region, StartedSource, signIn, sourceNotAvailable } from './link.ts'

const deprecatedEndpoint = (instead: string) => ({ tag: 'Link', deprecated: { since: FIRST_RELEASE, instead } }) as const

/** Endpoints for older clients. Each names its replacement. */
export const deprecatedLinkEndpoints = {
  startLink: endpoint({
    ...deprecatedEndpoint('Use `GET /v2/link/provider/oauth/{oauth_provider}` with the link token.'),
    auth: 'team',
    method: 'post',
    path: '/v2/link/start',
    summary: 'Start a connection',
    subjects: {},
    body: z.object({ link_token: Text(200), provider: SourceIn }).meta({ id: 'LinkStartRequest' }),
    returns: StartedSource,
    refusals: { ...sourceNotAvailable, 429: 'The token was used to start a connection too often.' },
  }),
  getLinkState: endpoint({
    ...deprecatedEndpoint('Use `GET /v2/link/providers`.'),
    auth: 'link',
    method: 'get',
    path: '/v2/link/state',
    summary: 'Get the state of a link token',
    subjects: { user_id: 'caller.user_id' },
    returns: z
      .object({
        provider: Safe.nullable(),
        filter_on_providers: z.array(Safe).nullable(),
        redirect_url: Safe.nullable(),
        expires_at: Instant,
      })
      .meta({ id: 'LinkState' }),
  }),
  authByPassword: endpoint({
    ...deprecatedEndpoint('Use `POST /v2/link/provider/password/{provider}`.'),
    auth: 'link',
    method: 'post',
    path: '/v2/link/auth',
    summary: 'Connect a source with a password (deprecated)',
    subjects: { user_id: 'caller.user_id' },
    body: z.object({ ...signIn, provider: PasswordSourceIn, auth_type: z.string().nullish() }).meta({ id: 'OlderSourceSignIn' }),
    returns: LinkOutcome,
    refusals: sourceNotAvailable,
  }),
  authByEmail: endpoint({
    ...deprecatedEndpoint('Use `POST /v2/link/provider/email/{provider}`.'),
    auth: 'link',
    method: 'post',
    path: '/v2/link/auth/email',
    summary: 'Connect a source with an email address (deprecated)',
    subjects: { user_id: 'caller.user_id' },
    body: z
      .object({ email: Email, provider: EmailSourceIn, auth_type: z.string().nullish(), region: Region })
      .meta({ id: 'OlderSourceEmail' }),
    returns: LinkOutcome,
    refusals: sourceNotAvailable,
  }),
}
