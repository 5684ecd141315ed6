import { z } from 'zod'
import { environments, Id, Instant, NoContent, openEnum, personRoles, regions, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'

/** The permissions of a console session. */
export const capabilities = [
  'data.read',
  'data.change',
  'sandbox.advance',
  'critical.acknowledge',
  'personal.reveal',
  'team.read',
  'team.manage',
  'audit.read',
  'org.manage',
  'deployment.operate',
] as const
export type Capability = (typeof capabilities)[number]

/** The roles of people and keys at the console. */
export const consoleRoles = [...personRoles, 'team_key', 'read_only_key'] as const
export type ConsoleRole = (typeof consoleRoles)[number]

const sessionKinds = ['management', 'team', 'person'] as const

const SignIn = z
  .object({
    management_key: Text(500).nullish(),
    team_api_key: Text(500).nullish(),
    email: z.string().max(254).nullish(),
    password: z.string().max(1000).nullish(),
    code: Text(40).nullish().describe('The six digits from the authenticator app, or a recovery code.'),
    org_id: Id.nullish().describe('Required if the same email address and password belong to several organizations.'),
  })
  .meta({ id: 'SignIn' })
export type SignIn = z.output<typeof SignIn>

export const Session = z
  .object({
    id: Id,
    kind: openEnum(sessionKinds),
    role: openEnum(consoleRoles),
    person: z.object({ id: Id, name: Safe, email: Safe }).nullable(),
    org: z.object({ id: Id, name: Safe, plan: Safe }),
    teams: z.array(z.object({ team_id: Id, name: Safe })).describe('The teams that the session can access, oldest first, at most 500.'),
    team_id: Id.nullable().describe('The team of a session with a team key. Null for other sessions.'),
    environment: openEnum(environments),
    region: openEnum(regions),
    capabilities: z.array(openEnum(capabilities)),
    idle_ends_at: Instant.describe('When the session ends if it is not used.'),
    ends_at: Instant.describe('When the session ends even if it is used.'),
  })
  .meta({ id: 'ConsoleSession' })

const consoleSession = { tag: 'Console', subjects: {}, grantsAccess: true } as const

export const sessionEndpoints = {
  beginSession: endpoint({
    ...consoleSession,
    auth: 'none',
    console: true,
    method: 'post',
    path: '/console/session',
    summary: 'Sign in to the console',
    description:
      'Sign in with a management key, a team API key, or email address, password and code. The response sets an HTTP-only cookie. The previous session of the browser ends.',
    body: SignIn,
    returns: Session,
    refusals: {
      401: 'The credential is wrong.',
      403: 'The request does not come from the console.',
      429: 'Too many attempts. Wait before you sign in again.',
    },
  }),
  getSession: endpoint({
    ...consoleSession,
    auth: 'session',
    method: 'get',
    path: '/console/session',
    unaudited: true,
    summary: 'Get the current session',
    returns: Session,
  }),
  endSession: endpoint({
    ...consoleSession,
    auth: 'session',
    method: 'delete',
    path: '/console/session',
    summary: 'Sign out of the console',
    status: 204,
    returns: NoContent,
  }),
}
