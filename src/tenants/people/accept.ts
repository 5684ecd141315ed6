import { randomBytes, randomUUID } from 'node:crypto'
import { type App, type AppInRequest, inTransaction, type Transaction } from '../../platform/app.ts'
import { isUniqueViolation } from '../../platform/db/errors.ts'
import { problem } from '../../platform/problem.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { orgSealingKey } from '../../platform/sealing/vault.ts'
import { auditRow, recordChange } from '../audit/actions.ts'
import { hashSecret } from '../keys/rules.ts'
import { encryptPerson, hashEmail } from './actions.ts'
import { replaceRecoveryCodes } from './codes.ts'
import { newDeviceToken } from './devices.ts'
import { decryptInvitation, invitationExpired } from './invitations.ts'
import { checkNewPassword } from './password-strength.ts'
import { hashPassword } from './passwords.ts'
import { findStep, fromBase32, TOTP_SECRET_BYTES, toBase32, totpUri } from './rules-totp.ts'
import { presentSession } from './sessions/actions.ts'
import { loadPersonHolder } from './sessions/authenticate.ts'
import { openSession } from './sessions/sign-in.ts'
import { bindTeams, insertPerson } from './store.ts'
import * as store from './store-invitations.ts'

type Acceptance = { token: string; name: string; password: string }

/** The account that an invitation becomes once a code confirms the authenticator. `password` is the hash. */
type Setup = { name: string; password: string; totp_secret: string }

const associatedData = (id: string) => `invitations.setup.${id}`

/**
 * Makes the secret of the second factor. Only the browser that accepts sees it: it gets the account to create as ciphertext,
 * and Assay stores nothing. So nobody who had the link before, or opens it at the same time, knows the secret.
 */
export async function acceptInvitation(app: App, { token, name, password }: Acceptance) {
  const invitation = await store.findByToken(app.db, hashSecret(token), app.wall())
  if (!invitation) throw invitationExpired()
  const { id, org_id, org_name } = invitation
  const { email } = decryptInvitation(app, invitation)
  await checkNewPassword(app, password, { email, org_name })
  const totp_secret = toBase32(randomBytes(TOTP_SECRET_BYTES))
  const setup: Setup = { name: name.trim(), password: await hashPassword(app, password), totp_secret }
  const sealed = seal(orgSealingKey(app, org_id), associatedData(id), setup)
  return { totp_secret, totp_uri: totpUri(totp_secret, email, org_name), setup: sealed.toString('base64url') }
}

type Completion = { token: string; setup: string; code: string }

/** Creates the person, their second factor and their first session in one transaction, which also uses up the link. */
export async function completeInvitation(app: AppInRequest, { token, setup, code }: Completion) {
  const accepted = await inTransaction(app, async (app) => {
    const invitation = await store.lockByToken(app.db, hashSecret(token), app.wall())
    if (!invitation) throw invitationExpired()
    return createPerson(app, invitation, openSetup(app, invitation, setup), code)
  }).catch((error) => {
    throw isUniqueViolation(error, 'people_email') ? invitationExpired() : error
  })
  return { session: await presentSession(app, accepted.caller, accepted.session), recovery_codes: accepted.recovery_codes }
}

function openSetup(app: App, { id, org_id }: store.InvitationRow, setup: string) {
  try {
    const sealed = Buffer.from(setup, 'base64url')
    return open<Setup>(orgSealingKey(app, org_id, sealed), associatedData(id), sealed)
  } catch {
    throw problem('INVALID_SETUP', 'The setup does not belong to this invitation. Accept the invitation again, and send the setup you get.')
  }
}

async function createPerson(app: AppInRequest & Transaction, invitation: store.InvitationRow, setup: Setup, code: string) {
  const { org_id, role, every_team, team_ids } = invitation
  const { email } = decryptInvitation(app, invitation)
  const { name, password, totp_secret } = setup
  const totp_step = findStep(fromBase32(totp_secret), code, app.wall(), 0)
  if (totp_step === undefined) throw wrongCode()
  const id = randomUUID()
  const sealed = encryptPerson(app, { id, org_id }, { name, email, totp_secret })
  const [at, email_hash] = [app.wall(), hashEmail(app, email)]
  await insertPerson(app.db, { id, org_id, role, every_team, email_hash, sealed, password, totp_step, created_on: at, last_sign_in_at: at })
  // A team deleted since the invitation is skipped.
  await bindTeams(app.db, org_id, id, team_ids)
  await store.deleteInvitation(app.db, org_id, invitation.id)
  const recovery_codes = await replaceRecoveryCodes(app, id)
  const { request_id } = app.request
  app.request.setDevice(newDeviceToken(app, { id, password }))
  const signedIn = await openSession(app, await loadPersonHolder(app, id))
  await recordChange(
    app,
    auditRow(app, signedIn.caller, { action: 'completeInvitation', subject: `person_id:${id}`, status: 200, request_id }),
  )
  return { ...signedIn, recovery_codes }
}

export const wrongCode = () => problem('WRONG_CODE', 'The code is wrong or expired. Enter the code your authenticator shows now.')
