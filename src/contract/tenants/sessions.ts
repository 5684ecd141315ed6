import { z } from 'zod'
import { environments, Id, Instant, Nothing, openEnum, personRoles, regions, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'

/** What somebody at the console may do. */
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
] as const
export type Capability = (typeof capabilities)[number]

/** Of a person, of a management key, or of a team key. */
export const consoleRoles = [...personRoles, 'team_key', 'read_only_key'] as const
export type ConsoleRole = (typeof consoleRoles)[number]

export const sessionKinds = ['management', 'team', 'person'] as const

const SignIn = z
  .object({
    management_key: Text(500).nullish(),
    team_api_key: Text(500).nullish(),
    email: z.string().max(254).nullish(),
    password: z.string().max(1000).nullish(),
    code: Text(40).nullish().describe('Six digits of the authenticator, or a recovery code.'),
    org_id: Id.nullish().describe('For whoever belongs to several organisations with the same e-mail and password.'),
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
    teams: z.array(z.object({ team_id: Id, name: Safe })).describe('Those that the session reaches, oldest first, 500 at most.'),
    team_id: Id.nullable().describe('Of a session by a team key: the only team.'),
    environment: openEnum(environments),
    region: openEnum(regions),
    capabilities: z.array(openEnum(capabilities)),
    idle_ends_at: Instant.describe('When it ends unless it is used.'),
    ends_at: Instant.describe('When it ends in any case.'),
  })
  .meta({ id: 'ConsoleSession' })

const own = { tag: 'Console', subjects: {} } as const

export const sessionEndpoints = {
  beginSession: endpoint({
    ...own,
    auth: 'none',
    console: true,
    method: 'post',
    path: '/console/session',
    summary: 'Sign in at the console',
    description:
      'By a management key, a team API key, or e-mail, password and code of a person. The answer sets an http-only cookie. A session that the browser had before ends.',
    body: SignIn,
    returns: Session,
    refusals: { 401: 'The credential is wrong.', 403: 'The request is not from the console.', 429: 'Too many tries; wait.' },
  }),
  getSession: endpoint({
    ...own,
    auth: 'session',
    method: 'get',
    path: '/console/session',
    unaudited: true,
    summary: 'Who is signed in',
    returns: Session,
  }),
  endSession: endpoint({
    ...own,
    auth: 'session',
    method: 'delete',
    path: '/console/session',
    summary: 'Sign out',
    status: 204,
    returns: Nothing,
  }),
}
