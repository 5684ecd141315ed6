import { randomUUID } from 'node:crypto'
import type { PersonRole } from '../../contract/common.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { publicUrl } from '../../platform/config.ts'
import { isUniqueViolation } from '../../platform/db/errors.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { problem } from '../../platform/problem.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { orgSealingKey } from '../../platform/sealing/vault.ts'
import { DAY, later } from '../../platform/time.ts'
import { hashSecret, newSecret } from '../keys/rules.ts'
import { boundTeamIds, checkTeamsFound } from '../teams/rules.ts'
import { emailHashes, findPersonName, hashEmail } from './actions.ts'
import * as rules from './rules.ts'
import { countTeams, findByEmail } from './store.ts'
import * as store from './store-invitations.ts'

type InvitedPerson = { email: string }

const associatedData = (id: string) => `invitations.sealed.${id}`

export const decryptInvitation = (app: App, { id, org_id, sealed }: Pick<store.InvitationRow, 'id' | 'org_id' | 'sealed'>) =>
  open<InvitedPerson>(orgSealingKey(app, org_id, sealed), associatedData(id), sealed)

export const encryptInvitation = (app: App, { id, org_id }: { id: string; org_id: string }, invited: InvitedPerson) =>
  seal(orgSealingKey(app, org_id), associatedData(id), invited)

type NewInvite = { email: string; role: PersonRole; team_role_bindings?: { team_id: string }[] | null | undefined }

const noInvite = { id: null, link: null, expires_at: null }

/** Returns the link only this once. A second invitation replaces the first. */
export async function createInvite(app: App, caller: ManagementCaller, invite: NewInvite) {
  const scope = rules.teamScopeOf(invite.role, boundTeamIds(invite.team_role_bindings))
  const write = () => inTransaction(app, (app) => insertInvite(app, caller, invite.email, scope))
  // A concurrent request invited the same person; the second attempt replaces that invitation.
  return write().catch((error) => {
    if (isUniqueViolation(error, 'invitations_email')) return write()
    throw error
  })
}

async function insertInvite(app: App, caller: ManagementCaller, email: string, scope: ReturnType<typeof rules.teamScopeOf>) {
  const { org_id } = caller
  const [email_hash, hashes] = [hashEmail(app, email), emailHashes(app, email)]
  checkTeamsFound((await countTeams(app.db, org_id, scope.team_ids)).count, scope.team_ids)
  if ((await findByEmail(app.db, hashes, org_id, 1)).length) return { status: 'already_in_org', ...noInvite }
  const previous = await store.lockByEmail(app.db, org_id, hashes)
  for (const { id } of previous) await store.deleteInvitation(app.db, org_id, id)
  const live = previous.find(({ expires_at }) => expires_at > app.wall())
  const id = live?.id ?? randomUUID()
  const token = newSecret(rules.INVITE_PREFIX)
  const expires_at = later(app.wall(), rules.INVITE_DAYS * DAY)
  const personal: InvitedPerson = { email: email.trim() }
  await store.insertInvitation(app.db, {
    id,
    org_id,
    ...scope,
    email_hash,
    sealed: encryptInvitation(app, { id, org_id }, personal),
    token_hash: hashSecret(token),
    ...inviterOf(caller),
    invited_at: live?.invited_at ?? app.wall(),
    resent_at: live ? app.wall() : null,
    expires_at,
  })
  // Browsers do not send the part after #, so no server or proxy logs the token.
  const link = `${publicUrl(app.config)}/console/invitation#${token}`
  return { status: live ? 'invite_resent' : 'invite_created', id, link, expires_at }
}

function inviterOf({ key_id, console }: ManagementCaller) {
  if (console?.kind === 'person') return { invited_by_kind: 'org_member', invited_by: console.actor_id }
  return { invited_by_kind: key_id ? 'management_key' : 'operator', invited_by: key_id }
}

type ListQuery = { search_query?: string | null | undefined; next_cursor?: string | null | undefined }

const MAX_SEARCHED_INVITATIONS = 1000

export async function listInvites(app: App, { org_id }: ManagementCaller, { search_query, next_cursor }: ListQuery) {
  const page = search_query ? { limit: MAX_SEARCHED_INVITATIONS } : pageAfter(next_cursor)
  const found = await store.listInvitations(app.db, org_id, app.wall(), page)
  const { rows, next_cursor: next } = pageOf(found, page, (row) => ({ at: row.invited_at, id: row.id }))
  const invites = await Promise.all(rows.map((row) => presentInvite(app, row)))
  if (search_query) return { invites: invites.filter(({ email }) => rules.matches(search_query, email)), next_cursor: null }
  return { invites, next_cursor: next }
}

async function presentInvite(app: App, row: store.InvitationRow) {
  return { ...row, email: decryptInvitation(app, row).email, creator: await creatorOf(app, row), team_role_bindings: rules.bindingsOf(row) }
}

async function creatorOf(app: App, { invited_by_kind, invited_by }: store.InvitationRow) {
  if (invited_by_kind !== 'org_member' || !invited_by) return { type: invited_by_kind }
  const person = await findPersonName(app, invited_by)
  return person ? { type: 'org_member', ...person, avatar: '' } : { type: 'removed_org_member', id: invited_by }
}

export const deleteInvite = (app: App, { org_id }: ManagementCaller, id: string) =>
  inTransaction(app, async (app) => {
    if (!(await store.deleteInvitation(app.db, org_id, id)))
      throw problem('INVITE_NOT_FOUND', 'No pending invitation in your organization has this ID. List the invitations to find it.')
    return { success: true }
  })

/** The details an invited person sees before accepting. */
export async function openInvitation(app: App, token: string) {
  const row = await store.findByToken(app.db, hashSecret(token), app.wall())
  if (!row) throw invitationExpired()
  const { org_name, role, expires_at } = row
  return { org_name, email: decryptInvitation(app, row).email, role, expires_at }
}

export const invitationExpired = () =>
  problem(
    'INVITATION_OVER',
    'This invitation link was used, revoked or replaced, or its 7 days have passed. Ask an administrator for a new one.',
  )

export const pruneInvitations = (app: App) => store.deleteExpiredInvitations(app.db, app.wall())
