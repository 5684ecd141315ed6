import { randomBytes, randomUUID } from 'node:crypto'
import type { PersonRole } from '../../contract/common.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { ManagementCaller } from '../../platform/callers.ts'
import { publicUrl } from '../../platform/config.ts'
import { isUniqueViolation } from '../../platform/db/open.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { problem } from '../../platform/problem.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { orgSealingKey } from '../../platform/sealing/vault.ts'
import { DAY, later } from '../../platform/time.ts'
import { hashOf, newSecret } from '../keys/rules.ts'
import { boundTeamIds, checkFound } from '../teams/rules.ts'
import { emailHash, findPersonName } from './actions.ts'
import * as rules from './rules.ts'
import { base32, uriOf } from './rules-totp.ts'
import { countTeams, findByEmail } from './store.ts'
import * as store from './store-invitations.ts'

type Invited = { email: string; totp_secret: string }

const SECRET = 20
const associatedData = (id: string) => `invitations.sealed.${id}`

export const decryptInvitation = (app: App, { id, org_id, sealed }: Pick<store.InvitationRow, 'id' | 'org_id' | 'sealed'>) =>
  open<Invited>(orgSealingKey(app, org_id), associatedData(id), sealed)

type NewInvite = { email: string; role: PersonRole; team_role_bindings?: { team_id: string }[] | null | undefined }

const none = { id: null, link: null, expires_at: null }

/** The link is shown to whoever invites, this once. A second invitation takes the place of the first. */
export async function createInvite(app: App, caller: ManagementCaller, invite: NewInvite) {
  const reach = rules.teamScopeOf(invite.role, boundTeamIds(invite.team_role_bindings))
  const write = () => inTransaction(app, (app) => invited(app, caller, invite.email, reach))
  // Somebody else invited the same person in the same moment: then there is one to take the place of.
  return write().catch((error) => {
    if (isUniqueViolation(error, 'invitations_email')) return write()
    throw error
  })
}

async function invited(app: App, caller: ManagementCaller, email: string, reach: ReturnType<typeof rules.teamScopeOf>) {
  const { org_id } = caller
  const email_hash = emailHash(app, email)
  checkFound((await countTeams(app.db, org_id, reach.team_ids)).count, reach.team_ids)
  if ((await findByEmail(app.db, email_hash, org_id, 1)).length) return { status: 'already_in_org', ...none }
  const before = await store.lockByEmail(app.db, org_id, email_hash)
  if (before) await store.deleteInvitation(app.db, org_id, before.id)
  const live = before && before.expires_at > app.wall() ? before : undefined
  const id = live?.id ?? randomUUID()
  const token = newSecret(rules.INVITE_PREFIX)
  const expires_at = later(app.wall(), rules.INVITE_DAYS * DAY)
  const personal: Invited = { email: email.trim(), totp_secret: base32(randomBytes(SECRET)) }
  await store.insertInvitation(app.db, {
    id,
    org_id,
    ...reach,
    email_hash,
    sealed: seal(orgSealingKey(app, org_id), associatedData(id), personal),
    token_hash: hashOf(token),
    ...inviterOf(caller),
    invited_at: live?.invited_at ?? app.wall(),
    resent_at: live ? app.wall() : null,
    expires_at,
  })
  // After # nothing is sent to a server, so no log on the way has it.
  const link = `${publicUrl(app.config)}/console/invitation#${token}`
  return { status: live ? 'invite_resent' : 'invite_created', id, link, expires_at }
}

function inviterOf({ key_id, console }: ManagementCaller) {
  if (console?.kind === 'person') return { invited_by_kind: 'org_member', invited_by: console.actor_id }
  return { invited_by_kind: key_id ? 'management_key' : 'operator', invited_by: key_id }
}

type ListQuery = { search_query?: string | null | undefined; next_cursor?: string | null | undefined }

const SEARCHED = 1000

export async function listInvites(app: App, { org_id }: ManagementCaller, { search_query, next_cursor }: ListQuery) {
  const page = search_query ? { limit: SEARCHED } : pageAfter(next_cursor)
  const found = await store.listInvitations(app.db, org_id, app.wall(), page)
  const { rows, next_cursor: next } = pageOf(found, page, (row) => ({ at: row.invited_at, id: row.id }))
  const invites = await Promise.all(rows.map((row) => shown(app, row)))
  if (search_query) return { invites: invites.filter(({ email }) => rules.matches(search_query, email)), next_cursor: null }
  return { invites, next_cursor: next }
}

async function shown(app: App, row: store.InvitationRow) {
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
      throw problem('INVITE_NOT_FOUND', 'There is no such invitation in this organisation, or it was accepted; list them to see their ids.')
    return { success: true }
  })

/** What somebody with the link sees before accepting. */
export async function openInvitation(app: App, token: string) {
  const row = await store.findByToken(app.db, hashOf(token), app.wall())
  if (!row) throw invitationExpired()
  const { email, totp_secret } = decryptInvitation(app, row)
  const { org_name, role, expires_at } = row
  return { org_name, email, role, expires_at, totp_secret, totp_uri: uriOf(totp_secret, email, org_name) }
}

export const invitationExpired = () =>
  problem('INVITATION_OVER', 'This link was used, taken back or replaced, or its 7 days are over; ask for a new one.')

export const pruneInvitations = (app: App) => store.deleteExpired(app.db, app.wall())
