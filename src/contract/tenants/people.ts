import { z } from 'zod'
import { Cursor, Email, Id, Instant, openEnum, personRoles, Success, TeamBindings, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { Session } from './sessions.ts'

const OrgId = z.object({ org_id: Id })
const PersonPath = z.object({ org_id: Id, person_id: Id })
const InvitePath = z.object({ org_id: Id, invite_id: Id })

const BindingsOut = z
  .array(z.object({ team_id: Id }))
  .nullable()
  .describe('Null if the role is not limited to teams.')
const role = openEnum(personRoles)

const Member = z
  .object({
    id: Id,
    name: Safe,
    email: Safe,
    created_on: Instant,
    role,
    team_role_bindings: BindingsOut,
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
    team_role_bindings: BindingsOut,
  })
  .meta({ id: 'Invite' })

const NewInvite = z
  .object({
    email: Email,
    role: z.enum(personRoles).default('org_admin'),
    team_role_bindings: TeamBindings.nullish().describe(
      'Required for team_admin. Without it, support and read_only have access to every team. Not allowed for org_admin and no_role.',
    ),
  })
  .meta({ id: 'NewInvite' })

const page = { search_query: z.string().max(80).nullish().describe('A part of the name or the email address.'), next_cursor: Cursor }
const people = { auth: 'management', plan: 'scale', scope: 'org', tag: 'People', subjects: {}, grantsAccess: true } as const
const ownAccount = { tag: 'People', auth: 'session', method: 'post', subjects: {}, grantsAccess: true } as const
const invitation = { tag: 'People', auth: 'none', console: true, method: 'post', subjects: {}, grantsAccess: true } as const
const roleMismatch = { 400: 'The role does not match the teams, or a team is unknown.' }

const Token = Text(200).describe('The part of the invitation link after #.')
const Code = Text(40).describe('The six digits from the authenticator app, or a recovery code.')
const Password = z.string().min(1, 'Must not be empty.').max(200, 'Must have at most 200 characters.')
const SecondFactor = z.object({ totp_secret: Safe, totp_uri: Safe.describe('The content of the QR code for the authenticator app.') })
const RecoveryCodes = z.array(Safe).describe('Each code replaces an authenticator code once. Assay shows them only in this response.')

const Proof = z.object({ password: Password, code: Code })

const Account = z
  .object({
    person: z.object({ id: Id, name: Safe, email: Safe }),
    role,
    has_password: z.boolean().describe('False for a person who signs in with single sign-on only.'),
    recovery_codes_left: z.int(),
    sessions: z.array(
      z.object({
        id: Id,
        current: z.boolean().describe('True for the session of this request.'),
        created_at: Instant,
        seen_at: Instant,
        idle_ends_at: Instant.describe('When the session ends if it is not used.'),
        ends_at: Instant.describe('When the session ends even if it is used.'),
      }),
    ),
  })
  .meta({ id: 'Account' })

export const peopleEndpoints = {
  listMembers: endpoint({
    ...people,
    method: 'get',
    path: '/v1/org/{org_id}/member',
    summary: 'List members',
    description: 'Returns the people who can sign in to the console.',
    params: OrgId,
    query: z.object(page),
    returns: z.object({ members: z.array(Member), next_cursor: Safe.nullable() }).meta({ id: 'MemberList' }),
  }),
  patchMember: endpoint({
    ...people,
    method: 'patch',
    path: '/v1/org/{org_id}/member/{person_id}',
    summary: 'Update a member',
    description: 'Changes the role or the teams. The change applies to open sessions immediately.',
    params: PersonPath,
    body: z
      .object({ role: z.enum(personRoles).nullish(), team_role_bindings: TeamBindings.nullish() })
      .meta({ id: 'MemberPatch' })
      .describe('Null keeps the role. team_role_bindings replaces the teams.'),
    returns: Member,
    refusals: { ...roleMismatch, 404: 'No such member.' },
  }),
  deleteMember: endpoint({
    ...people,
    method: 'delete',
    path: '/v1/org/{org_id}/member/{person_id}',
    summary: 'Remove a member',
    description: 'The sessions of the person end immediately.',
    params: PersonPath,
    returns: Success,
    refusals: { 404: 'No such member.' },
  }),
  listInvites: endpoint({
    ...people,
    method: 'get',
    path: '/v1/org/{org_id}/invite',
    summary: 'List invitations',
    description: 'Returns invitations that are not accepted yet.',
    params: OrgId,
    query: z.object(page),
    returns: z.object({ invites: z.array(Invite), next_cursor: Safe.nullable() }).meta({ id: 'InviteList' }),
  }),
  createInvite: endpoint({
    ...people,
    method: 'post',
    path: '/v1/org/{org_id}/invite',
    summary: 'Create an invitation',
    subjects: { id: 'result.id' },
    description:
      'Assay does not email the link, so send it yourself. Only this response contains the link. It works once, within 7 days. A new invitation for the same email address replaces the link.',
    params: OrgId,
    body: NewInvite,
    returns: z
      .object({
        status: openEnum(['invite_created', 'invite_resent', 'already_in_org']),
        id: Id.nullable(),
        link: Safe.nullable(),
        expires_at: Instant.nullable(),
      })
      .meta({ id: 'CreatedInvite' }),
    refusals: roleMismatch,
  }),
  deleteInvite: endpoint({
    ...people,
    method: 'delete',
    path: '/v1/org/{org_id}/invite/{invite_id}',
    summary: 'Revoke an invitation',
    params: InvitePath,
    returns: Success,
    refusals: { 404: 'No such invitation.' },
  }),
  openInvitation: endpoint({
    ...invitation,
    path: '/console/invitation',
    summary: 'Open an invitation',
    description: 'Returns what the person joins.',
    body: z.object({ token: Token }).meta({ id: 'InvitationToken' }),
    returns: z.object({ org_name: Safe, email: Safe, role, expires_at: Instant }).meta({ id: 'Invitation' }),
    refusals: { 404: 'The link was used, revoked or replaced, or has expired.' },
  }),
  acceptInvitation: endpoint({
    ...invitation,
    path: '/console/invitation/accept',
    summary: 'Accept an invitation',
    description:
      'Returns a new secret for the authenticator app, which no other response contains. Add it there, then send the code to /console/invitation/complete.',
    body: z.object({ token: Token, name: Text(100), password: Password }).meta({ id: 'AcceptInvitation' }),
    returns: SecondFactor.extend({ setup: Safe.describe('The account to create, encrypted.') }).meta({ id: 'AcceptedInvitation' }),
    refusals: { 400: 'The password is too weak.', 404: 'The link no longer works.' },
  }),
  completeInvitation: endpoint({
    ...invitation,
    path: '/console/invitation/complete',
    summary: 'Complete an invitation',
    description: 'Creates the account, signs in and returns recovery codes.',
    body: z
      .object({ token: Token, setup: Text(4000).describe('The setup from /console/invitation/accept.'), code: Code })
      .meta({ id: 'CompleteInvitation' }),
    returns: z.object({ session: Session, recovery_codes: RecoveryCodes }).meta({ id: 'CompletedInvitation' }),
    refusals: { 400: 'The code is wrong, or the setup belongs to another invitation.', 404: 'The link no longer works.' },
  }),
  changePassword: endpoint({
    ...ownAccount,
    path: '/console/password',
    summary: 'Change your password',
    description: 'Ends your other sessions.',
    body: Proof.extend({ new_password: Password }).meta({ id: 'ChangePassword' }),
    returns: Success,
    refusals: { 400: 'The new password is too weak.', 401: 'The password or the code is wrong.' },
  }),
  renewSecondFactor: endpoint({
    ...ownAccount,
    path: '/console/second_factor',
    summary: 'Start replacing your authenticator',
    description: 'The current authenticator works until you confirm a code of the new one at /console/second_factor/confirm.',
    body: Proof.meta({ id: 'RenewSecondFactor' }),
    returns: SecondFactor.meta({ id: 'SecondFactor' }),
    refusals: { 401: 'The password or the code is wrong.' },
  }),
  confirmSecondFactor: endpoint({
    ...ownAccount,
    path: '/console/second_factor/confirm',
    summary: 'Confirm your new authenticator',
    description: 'The previous authenticator and recovery codes stop working. Your other sessions end.',
    body: z.object({ code: Text(40) }).meta({ id: 'ConfirmSecondFactor' }),
    returns: z.object({ recovery_codes: RecoveryCodes }).meta({ id: 'ConfirmedSecondFactor' }),
    refusals: { 400: 'The code is wrong, or no replacement was started.' },
  }),
  renewRecoveryCodes: endpoint({
    ...ownAccount,
    path: '/console/recovery_codes',
    summary: 'Create new recovery codes',
    description: 'The previous recovery codes stop working.',
    body: Proof.meta({ id: 'RenewRecoveryCodes' }),
    returns: z.object({ recovery_codes: RecoveryCodes }).meta({ id: 'NewRecoveryCodes' }),
    refusals: { 400: 'The session was started with a key, not by a person.', 401: 'The password or the code is wrong.' },
  }),
  getAccount: endpoint({
    ...ownAccount,
    method: 'get',
    path: '/console/session/account',
    summary: 'Get your account',
    description: 'Returns your role and your open sessions.',
    returns: Account,
    refusals: { 400: 'The session was started with a key, not by a person.' },
  }),
  endOtherSessions: endpoint({
    ...ownAccount,
    method: 'delete',
    path: '/console/session/others',
    summary: 'End your other sessions',
    returns: z.object({ ended: z.int() }).meta({ id: 'EndedSessions' }),
    refusals: { 400: 'The session was started with a key, not by a person.' },
  }),
}
