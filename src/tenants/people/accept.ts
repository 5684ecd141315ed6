import { randomUUID } from 'node:crypto'
import { type AppInRequest, inTransaction, type Transaction } from '../../platform/app.ts'
import { isUniqueViolation } from '../../platform/db/errors.ts'
import { problem } from '../../platform/problem.ts'
import { auditRow, recordChange } from '../audit/actions.ts'
import { hashSecret } from '../keys/rules.ts'
import { presentSession } from '../sessions/actions.ts'
import { loadPersonHolder } from '../sessions/authenticate.ts'
import { openSession } from '../sessions/sign-in.ts'
import { encryptPerson } from './actions.ts'
import { replaceRecoveryCodes } from './codes.ts'
import { decryptInvitation, invitationExpired } from './invitations.ts'
import { hashPassword } from './passwords.ts'
import * as rules from './rules.ts'
import { findStep, fromBase32 } from './rules-totp.ts'
import { bindTeams, insertPerson } from './store.ts'
import * as store from './store-invitations.ts'

type Acceptance = { token: string; name: string; password: string; code: string }

/** Creates the person, their second factor and their first session in one transaction, which also uses up the link. */
export async function acceptInvitation(app: AppInRequest, { token, name, password, code }: Acceptance) {
  const pending = await store.findByToken(app.db, hashSecret(token), app.wall())
  if (!pending) throw invitationExpired()
  rules.checkPassword(password, decryptInvitation(app, pending).email)
  const hash = await hashPassword(app, password)
  const accepted = await inTransaction(app, async (app) => {
    const invitation = await store.lockByToken(app.db, hashSecret(token), app.wall())
    if (!invitation) throw invitationExpired()
    return createPerson(app, invitation, { name: name.trim(), password: hash, code })
  }).catch((error) => {
    throw isUniqueViolation(error, 'people_email') ? invitationExpired() : error
  })
  return { session: await presentSession(app, accepted.caller, accepted.session), recovery_codes: accepted.recovery_codes }
}

async function createPerson(
  app: AppInRequest & Transaction,
  invitation: store.InvitationRow,
  { name, password, code }: Omit<Acceptance, 'token'>,
) {
  const { org_id, role, every_team, team_ids, email_hash } = invitation
  const { email, totp_secret } = decryptInvitation(app, invitation)
  const totp_step = findStep(fromBase32(totp_secret), code, app.wall(), 0)
  if (totp_step === undefined) throw wrongCode()
  const id = randomUUID()
  const sealed = encryptPerson(app, { id, org_id }, { name, email, totp_secret })
  const at = app.wall()
  await insertPerson(app.db, { id, org_id, role, every_team, email_hash, sealed, password, totp_step, created_on: at, last_sign_in_at: at })
  // A team deleted since the invitation is skipped.
  await bindTeams(app.db, org_id, id, team_ids)
  await store.deleteInvitation(app.db, org_id, invitation.id)
  const recovery_codes = await replaceRecoveryCodes(app, id)
  const { request_id } = app.request
  const signedIn = await openSession(app, await loadPersonHolder(app, id))
  await recordChange(
    app,
    auditRow(app, signedIn.caller, { action: 'acceptInvitation', subject: `person_id:${id}`, status: 200, request_id }),
  )
  return { ...signedIn, recovery_codes }
}

export const wrongCode = () => problem('WRONG_CODE', 'The code is wrong or expired. Enter the code your authenticator shows now.')
