import { randomUUID } from 'node:crypto'
import { type AppInRequest, inTransaction, type Transaction } from '../../platform/app.ts'
import { isUniqueViolation } from '../../platform/db/open.ts'
import { problem } from '../../platform/problem.ts'
import { auditRow, recordChange } from '../audit/actions.ts'
import { hashOf } from '../keys/rules.ts'
import { presentSession } from '../sessions/actions.ts'
import { openSession, personAsHolder } from '../sessions/sign-in.ts'
import { encryptPerson } from './actions.ts'
import { newRecoveryCodes } from './codes.ts'
import { decryptInvitation, invitationExpired } from './invitations.ts'
import { hashPassword } from './passwords.ts'
import * as rules from './rules.ts'
import { fromBase32, stepOf } from './rules-totp.ts'
import { bindTeams, insertPerson } from './store.ts'
import * as store from './store-invitations.ts'

type Accepted = { token: string; name: string; password: string; code: string }

/** The person, its second factor and its first session, in one step; the link is used up by it. */
export async function acceptInvitation(app: AppInRequest, { token, name, password, code }: Accepted) {
  const waiting = await store.findByToken(app.db, hashOf(token), app.wall())
  if (!waiting) throw invitationExpired()
  rules.checkPassword(password, decryptInvitation(app, waiting).email)
  const hash = await hashPassword(app, password)
  const made = await inTransaction(app, async (app) => {
    const invitation = await store.lockByToken(app.db, hashOf(token), app.wall())
    if (!invitation) throw invitationExpired()
    return become(app, invitation, { name: name.trim(), password: hash, code })
  }).catch((error) => {
    throw isUniqueViolation(error, 'people_email') ? invitationExpired() : error
  })
  return { session: await presentSession(app, made.caller, made.session), recovery_codes: made.recovery_codes }
}

async function become(app: AppInRequest & Transaction, invitation: store.InvitationRow, { name, password, code }: Omit<Accepted, 'token'>) {
  const { org_id, role, every_team, team_ids, email_hash } = invitation
  const { email, totp_secret } = decryptInvitation(app, invitation)
  const totp_step = stepOf(fromBase32(totp_secret), code, app.wall(), 0)
  if (totp_step === undefined) throw wrongCode()
  const id = randomUUID()
  const sealed = encryptPerson(app, { id, org_id }, { name, email, totp_secret })
  const at = app.wall()
  await insertPerson(app.db, { id, org_id, role, every_team, email_hash, sealed, password, totp_step, created_on: at, last_sign_in_at: at })
  // A team that was deleted meanwhile is left out.
  await bindTeams(app.db, org_id, id, team_ids)
  await store.deleteInvitation(app.db, org_id, invitation.id)
  const recovery_codes = await newRecoveryCodes(app, id)
  const { request_id } = app.request
  const opened = await openSession(app, await personAsHolder(app, id))
  await recordChange(app, auditRow(app, opened.caller, { action: 'acceptInvitation', subject: `person_id:${id}`, status: 200, request_id }))
  return { ...opened, recovery_codes }
}

export const wrongCode = () =>
  problem('WRONG_CODE', 'The code does not fit the secret or is too old; enter the one that the authenticator shows now.')
