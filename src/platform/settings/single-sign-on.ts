import { z } from 'zod'
import { Id } from '../../contract/common.ts'
import { isLoopbackUrl, roleMappings, url } from './values.ts'

/** Settings of single sign-on to the console. */
export const singleSignOn = {
  OIDC_ISSUER: url(/^https?$/, 'must be an https URL')
    .refine((text) => text.startsWith('https:') || isLoopbackUrl(text), 'must be an https URL')
    .optional()
    .describe(
      'The issuer of your OpenID Connect provider, such as `https://login.example.org`. Turns on [single sign-on](security.md#single-sign-on) for the console. Register `PUBLIC_URL/console/sso/callback` as its redirect URI.',
    ),
  OIDC_CLIENT_ID: z.string().min(1).optional().describe('The client ID of Assay at the provider. Required with `OIDC_ISSUER`.'),
  OIDC_CLIENT_SECRET: z.string().min(1).optional().describe('The client secret. If unset, Assay is a public client, with PKCE only.'),
  OIDC_GROUPS_CLAIM: z.string().min(1).default('groups').describe('The claim that lists the groups of a person.'),
  OIDC_ROLES: roleMappings.describe(
    'The roles of groups, separated by commas, such as `assay-admins=org_admin,pier-staff=team_admin@TEAM_ID`. `team_admin` needs a team, `support` and `read_only` can have one. A person gets the highest role of their groups. Without a group of this list, nobody can sign in. Required with `OIDC_ISSUER`.',
  ),
  OIDC_SCOPES: z
    .string()
    .regex(/^openid( \S+)*$/, 'must start with openid')
    .default('openid profile email')
    .describe('The scopes to request. Some providers send groups only with a scope of their own.'),
  OIDC_ORG_ID: Id.optional().describe(
    'The organization of people who sign in with single sign-on. If unset, the first organization of the deployment.',
  ),
}
