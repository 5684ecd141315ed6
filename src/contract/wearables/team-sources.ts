import { z } from 'zod'
import { Cursor, Environment, Id, Instant, openEnum, Region, Success, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe, safe } from '../personal.ts'
import { OAuthSourceIn, SourceIn } from '../tenants/sources.ts'

const Deployment = z.object({ org_id: Id, env: Environment, region: Region })
const TeamPath = z.object({ org_id: Id, team_id: Id })
const TeamIds = z.array(Id).max(100).optional()

const Credential = z
  .object({
    id: Id,
    team_id: Id,
    source: Safe,
    client_id: Safe.nullable(),
    client_secret_hash: Safe.nullable().describe('Lets you compare two secrets. Assay never returns the secret.'),
    details: z.record(Safe, safe(z.unknown())).nullable().describe('Secrets are left out.'),
    app_url: Safe.nullable(),
    redirect_url_override: Safe.nullable(),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'TeamCredential' })

const scopes = { user_must_grant: z.array(Text(200)).max(100), user_may_grant: z.array(Text(200)).max(100) }
const RequiredIn = z.object(scopes).meta({ id: 'ScopeRequirementInput' })
type RequiredBySource = Record<(typeof OAuthSourceIn.options)[number], z.ZodOptional<z.ZodNullable<typeof RequiredIn>>>
const NewRequirements = z
  .object(Object.fromEntries(OAuthSourceIn.options.map((slug) => [slug, RequiredIn.nullish()])) as RequiredBySource)
  .meta({ id: 'NewScopeRequirements' })

const Requirements = z
  .object({
    requirements: z.array(z.object({ team_id: Id, provider: Safe, user_must_grant: z.array(Safe), user_may_grant: z.array(Safe) })),
  })
  .meta({ id: 'ScopeRequirements' })

const Days = z.object({ historical_days_to_pull: z.int().min(0).max(3650) })
const PreferenceIn = z
  .object({ default: Days, resource_overrides: z.record(z.string(), Days).nullish() })
  .meta({ id: 'PullPreferenceInput' })
type PreferenceBySource = Record<(typeof SourceIn.options)[number], z.ZodOptional<typeof PreferenceIn>>
const NewPreferences = z
  .object({
    team_ids: z.array(Id).min(1).max(100),
    providers: z.object(Object.fromEntries(SourceIn.options.map((slug) => [slug, PreferenceIn.optional()])) as PreferenceBySource),
  })
  .meta({ id: 'NewPullPreferences' })

const DaysOut = z.object({ historical_days_to_pull: z.int(), historical_days_to_pull_limit: z.int() })
const Preferences = z
  .object({
    data_pull_preferences: z.array(
      z.object({
        team_id: Id,
        providers: z.record(Safe, z.object({ default: DaysOut, resource_overrides: z.record(Safe, DaysOut).nullable() })),
      }),
    ),
    next_cursor: Safe.nullable(),
  })
  .meta({ id: 'PullPreferences' })

const credentials = { auth: 'management', plan: 'scale', scope: 'team', tag: 'Source settings', subjects: {}, grantsAccess: true } as const
const noTeam = { 404: 'No such team, or the key has no access to it.' }

export const teamSourceEndpoints = {
  listTeamCredentials: endpoint({
    ...credentials,
    method: 'get',
    path: '/v1/org/{org_id}/team_custom_credentials/{env}/{region}',
    summary: 'List custom credentials',
    description: 'Custom credentials belong to an OAuth application that a team registered at a source. Secrets are left out.',
    params: Deployment,
    query: z.object({ team_id: TeamIds, provider: OAuthSourceIn.nullish(), next_cursor: Cursor }),
    returns: z.object({ credentials: z.array(Credential), next_cursor: Safe.nullable() }).meta({ id: 'TeamCredentials' }),
  }),
  putTeamCredential: endpoint({
    ...credentials,
    method: 'post',
    path: '/v1/org/{org_id}/team_custom_credentials/{env}/{region}',
    summary: 'Set custom credentials',
    subjects: { id: 'result.id', team_id: 'body.team_id' },
    description:
      'Users of the team then connect this source through the OAuth application of the team. Fields that you leave out keep their values.',
    params: Deployment,
    body: z
      .object({
        team_id: Id,
        provider: OAuthSourceIn,
        client_id: Text(500).nullish(),
        client_secret: Text(2000).nullish(),
        details: z.record(z.string(), z.unknown()).nullish(),
        redirect_url_override: z
          .string()
          .max(2048)
          .nullish()
          .describe('Your own redirect URI that forwards to Assay, such as https://you.example/callback.'),
      })
      .meta({ id: 'NewTeamCredential' }),
    returns: Credential,
    refusals: { ...noTeam, 400: 'client_id or client_secret is missing, or the environment or region does not match this deployment.' },
  }),
  deleteTeamCredentials: endpoint({
    ...credentials,
    method: 'delete',
    path: '/v1/org/{org_id}/team_custom_credentials/{env}/{region}',
    summary: 'Delete custom credentials',
    subjects: { credential_id: 'query.credential_id' },
    description: 'Connections that use the credentials can no longer renew their tokens.',
    params: Deployment,
    query: z.object({ credential_id: z.array(Id).min(1).max(100) }),
    returns: z.object({ success: z.array(Id), failure: z.array(Id), not_found: z.array(Id) }).meta({ id: 'DeletedTeamCredentials' }),
  }),
  prepareTeamCredential: endpoint({
    ...credentials,
    method: 'post',
    path: '/v1/org/{org_id}/prepare_team_custom_credentials/{env}/{region}',
    reads: true,
    summary: 'List the setup steps for custom credentials',
    description: 'Returns the redirect URI and other values to register at the source.',
    subjects: { team_id: 'body.team_id' },
    params: Deployment,
    body: z.object({ team_id: Id, provider: OAuthSourceIn }).meta({ id: 'CredentialPreparationRequest' }),
    returns: z
      .object({
        status: openEnum(['no_action_needed', 'preparations_required']),
        preparation_steps: z.array(
          z.object({
            type: openEnum(['redirect_uri', 'webhook_uri', 'iam_principal']),
            key: Safe.nullable(),
            value: Safe,
            description: Safe.nullable(),
          }),
        ),
      })
      .meta({ id: 'CredentialPreparation' }),
    refusals: noTeam,
  }),
  listScopeRequirements: endpoint({
    ...credentials,
    method: 'get',
    path: '/v1/org/{org_id}/team/{team_id}/scope_requirements',
    summary: 'List scope requirements',
    description: 'Scope requirements are the OAuth scopes that users of the team must or may grant.',
    params: TeamPath,
    query: z.object({ provider: OAuthSourceIn.nullish() }),
    returns: Requirements,
    refusals: noTeam,
  }),
  putScopeRequirements: endpoint({
    ...credentials,
    method: 'post',
    path: '/v1/org/{org_id}/team/{team_id}/scope_requirements',
    summary: 'Set scope requirements',
    description:
      'Assay asks for both kinds of scopes. Without a scope in `user_must_grant` the connection fails. Null removes the requirements of a source. Sources that you leave out keep theirs.',
    params: TeamPath,
    body: NewRequirements,
    returns: Requirements,
    refusals: noTeam,
  }),
  listPullPreferences: endpoint({
    ...credentials,
    method: 'get',
    path: '/v1/org/{org_id}/team_data_pull_preferences/{env}/{region}',
    summary: 'List data pull preferences',
    description: 'The preferences limit how many days of history Assay takes from a source.',
    params: Deployment,
    query: z.object({
      team_id: TeamIds,
      provider: z.array(SourceIn).max(100).optional(),
      next_cursor: Cursor,
      limit: z.int().min(1).max(100).default(5),
    }),
    returns: Preferences,
  }),
  putPullPreferences: endpoint({
    ...credentials,
    method: 'post',
    path: '/v1/org/{org_id}/team_data_pull_preferences/{env}/{region}',
    summary: 'Set data pull preferences',
    subjects: { team_id: 'body.team_ids[]' },
    description: 'Applies to every team and source that you name. A value above `historical_days_to_pull_limit` of the source is rejected.',
    params: Deployment,
    body: NewPreferences,
    returns: Preferences,
    refusals: noTeam,
  }),
  deletePullPreferences: endpoint({
    ...credentials,
    method: 'delete',
    path: '/v1/org/{org_id}/team_data_pull_preferences/{env}/{region}',
    summary: 'Delete data pull preferences',
    subjects: { team_id: 'query.team_id' },
    description: 'Resets the sources that you name to their defaults, or all sources.',
    params: Deployment,
    query: z.object({ team_id: z.array(Id).min(1).max(100), provider: z.array(SourceIn).max(100).optional() }),
    returns: Success,
    refusals: noTeam,
  }),
}
