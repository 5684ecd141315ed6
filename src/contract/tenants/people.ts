import { z } from 'zod'
import { Cursor, Email, Id, Instant, openEnum, personRoles, Success, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { Session } from './sessions.ts'

const OrgId = z.object({ org_id: Id })
const PersonPath = z.object({ org_id: Id, person_id: Id })
const InvitePath = z.object({ org_id: Id, invite_id: Id })

const Bindings = z
  .array(z.object({ team_id: Id }))
  .min(1, 'Name at least one team.')
  .max(100)
const bindingsOut = z
  .array(z.object({ team_id: Id }))
  .nullable()
  .describe('Null where the role is not bound to teams.')
const role = openEnum(personRoles)

const Member = z
  .object({
    id: Id,
    name: Safe,
    email: Safe,
    created_on: Instant,
    role,
    team_role_bindings: bindingsOut,
    last_sign_in_at: Instant.nullable(),
  })
  .meta({ id: 'Member' })

const Creator = z
  .object({
    type: openEnum(['org_member', 'removed_org_member', 'management_key', 'operator']),
    id: Id.nullish(),
    name: Safe.optional(),
    email: Safe.optional(),
    avatar: Safe.optional(),
  })
  .meta({ id: 'InviteCreator' })

const Invite = z
  .object({
    id: Id,
    email: Safe,
    invited_at: Instant,
    resent_at: Instant.nullable(),
    expires_at: Instant,
    creator: Creator,
    role,
    team_role_bindings: bindingsOut,
  })
  .meta({ id: 'Invite' })

const NewInvite = z
  .object({
    email: Email,
    role: z.enum(personRoles).default('org_admin'),
    team_role_bindings: Bindings.nullish().describe(
      'Required for team_admin; support and read_only reach every team without; not for org_admin and no_role.',
    ),
  })
  .meta({ id: 'NewInvite' })

const page = { search_query: z.string().max(80).nullish().describe('Part of the name or of the e-mail.'), next_cursor: Cursor }
const people = { auth: 'management', plan: 'scale', scope: 'org', tag: 'People', subjects: {} } as const
const own = { tag: 'People', auth: 'session', method: 'post', subjects: {} } as const
const invited = { tag: 'People', auth: 'none', console: true, method: 'post', subjects: {} } as const
const bound = { 400: 'The role and the teams do not fit, or a team is unknown.' }

const Token = Text(200).describe('What follows # in the link of the invitation.')
const Code = Text(40).describe('Six digits of the authenticator, or a recovery code.')
const Password = z.string().min(1, 'Must not be empty.').max(200, 'Must have at most 200 characters.')
const SecondFactor = z.object({ totp_secret: Safe, totp_uri: Safe.describe('For the QR code of the authenticator.') })
const RecoveryCodes = z.array(Safe).describe('Each signs in once in place of a code. They are in this answer only.')

const Proof = z.object({ password: Password, code: Code })

const Account = z
  .object({
    person: z.object({ id: Id, name: Safe, email: Safe }),
    role,
    recovery_codes_left: z.int(),
    sessions: z.array(
      z.object({
        id: Id,
        current: z.boolean().describe('The one that asks.'),
        created_at: Instant,
        seen_at: Instant,
        idle_ends_at: Instant.describe('When it ends unless it is used.'),
        ends_at: Instant.describe('When it ends in any case.'),
      }),
    ),
  })
  .meta({ id: 'Account' })

export const peopleEndpoints = {
  listMembers: endpoint({
    ...people,
    method: 'get',
    path: '/v1/org/{org_id}/member',
    summary: 'List the people of the organisation',
    params: OrgId,
    query: z.object(page),
    returns: z.object({ members: z.array(Member), next_cursor: Safe.nullable() }).meta({ id: 'MemberList' }),
  }),
  patchMember: endpoint({
    ...people,
    method: 'patch',
    path: '/v1/org/{org_id}/member/{person_id}',
    summary: 'Change the role of a person, at once',
    params: PersonPath,
    body: z
      .object({ role: z.enum(personRoles).nullish(), team_role_bindings: Bindings.nullish() })
      .meta({ id: 'MemberPatch' })
      .describe('A role of null stays as it is; team_role_bindings replaces the teams.'),
    returns: Member,
    refusals: { ...bound, 404: 'No such person.' },
  }),
  deleteMember: endpoint({
    ...people,
    method: 'delete',
    path: '/v1/org/{org_id}/member/{person_id}',
    summary: 'Remove a person; whatever it is signed in to ends at once',
    params: PersonPath,
    returns: Success,
    refusals: { 404: 'No such person.' },
  }),
  listInvites: endpoint({
    ...people,
    method: 'get',
    path: '/v1/org/{org_id}/invite',
    summary: 'List invitations that nobody has accepted yet',
    params: OrgId,
    query: z.object(page),
    returns: z.object({ invites: z.array(Invite), next_cursor: Safe.nullable() }).meta({ id: 'InviteList' }),
  }),
  createInvite: endpoint({
    ...people,
    method: 'post',
    path: '/v1/org/{org_id}/invite',
    summary: 'Invite a person',
    subjects: { id: 'result.id' },
    description:
      'No mail is sent: hand the link over yourself. It is in this answer only, works once and for 7 days. Inviting the same e-mail again makes a new link, and the one before stops working.',
    params: OrgId,
    body: NewInvite,
    returns: z
      .object({
        status: openEnum(['invite_created', 'invite_resent', 'already_in_org']),
        id: Id.nullable(),
        link: Safe.nullable(),
        expires_at: Instant.nullable(),
      })
      .meta({ id: 'InviteCreated' }),
    refusals: bound,
  }),
  deleteInvite: endpoint({
    ...people,
    method: 'delete',
    path: '/v1/org/{org_id}/invite/{invite_id}',
    summary: 'Take an invitation back',
    params: InvitePath,
    returns: Success,
    refusals: { 404: 'No such invitation.' },
  }),
  openInvitation: endpoint({
    ...invited,
    path: '/console/invitation',
    summary: 'Look at an invitation',
    description: 'Answers the secret of the second factor, to be entered into an authenticator before the invitation is accepted.',
    body: z.object({ token: Token }).meta({ id: 'InvitationToken' }),
    returns: z.object({ org_name: Safe, email: Safe, role, expires_at: Instant, ...SecondFactor.shape }).meta({ id: 'Invitation' }),
    refusals: { 404: 'The link was used, taken back, replaced, or its 7 days are over.' },
  }),
  acceptInvitation: endpoint({
    ...invited,
    path: '/console/invitation/accept',
    summary: 'Accept an invitation and sign in',
    body: z.object({ token: Token, name: Text(100), password: Password, code: Code }).meta({ id: 'AcceptInvitation' }),
    returns: z.object({ session: Session, recovery_codes: RecoveryCodes }).meta({ id: 'InvitationAccepted' }),
    refusals: { 400: 'The password is too weak, or the code is wrong.', 404: 'The link does not work any more.' },
  }),
  changePassword: endpoint({
    ...own,
    path: '/console/password',
    summary: 'Change the own password; other sessions of the person end',
    body: Proof.extend({ new_password: Password }).meta({ id: 'ChangePassword' }),
    returns: Success,
    refusals: { 400: 'The new password is too weak.', 401: 'The password or the code is wrong.' },
  }),
  renewSecondFactor: endpoint({
    ...own,
    path: '/console/second_factor',
    summary: 'Begin with a new authenticator',
    description: 'The old one is good until a code of the new one was sent to /console/second_factor/confirm.',
    body: Proof.meta({ id: 'RenewSecondFactor' }),
    returns: SecondFactor.meta({ id: 'SecondFactor' }),
    refusals: { 401: 'The password or the code is wrong.' },
  }),
  confirmSecondFactor: endpoint({
    ...own,
    path: '/console/second_factor/confirm',
    summary: 'Go over to the new authenticator',
    body: z.object({ code: Text(40) }).meta({ id: 'ConfirmSecondFactor' }),
    returns: z.object({ recovery_codes: RecoveryCodes }).meta({ id: 'SecondFactorConfirmed' }),
    refusals: { 400: 'The code is wrong, or none was begun with.' },
  }),
  renewRecoveryCodes: endpoint({
    ...own,
    path: '/console/recovery_codes',
    summary: 'Take new recovery codes; those before stop working',
    body: Proof.meta({ id: 'RenewRecoveryCodes' }),
    returns: z.object({ recovery_codes: RecoveryCodes }).meta({ id: 'NewRecoveryCodes' }),
    refusals: { 400: 'A key has signed in, not a person.', 401: 'The password or the code is wrong.' },
  }),
  getAccount: endpoint({
    ...own,
    method: 'get',
    path: '/console/session/account',
    summary: 'See the own account, and where it is signed in',
    returns: Account,
    refusals: { 400: 'A key has signed in, not a person.' },
  }),
  endOtherSessions: endpoint({
    ...own,
    method: 'delete',
    path: '/console/session/others',
    summary: 'Sign out everywhere else',
    returns: z.object({ ended: z.int() }).meta({ id: 'SessionsEnded' }),
    refusals: { 400: 'A key has signed in, not a person.' },
  }),
}
