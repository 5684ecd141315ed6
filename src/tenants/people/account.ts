import { randomBytes } from 'node:crypto'
import { type App, type AppInRequest, inTransaction } from '../../platform/app.ts'
import type { SessionCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { wrongCode } from './accept.ts'
import { decryptPerson, encryptPerson } from './actions.ts'
import { consumeCode, replaceRecoveryCodes } from './codes.ts'
import { newDeviceToken } from './devices.ts'
import { checkNewPassword } from './password-strength.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { findStep, fromBase32, TOTP_SECRET_BYTES, toBase32, totpUri } from './rules-totp.ts'
import { endOtherSessions, listOwnSessions } from './sessions/actions.ts'
import { sessionEnded } from './sessions/rules.ts'
import { clearAttempts, countAttempt, MAX_ATTEMPTS_PER_PERSON } from './sessions/sign-in-limiter.ts'
import { signInRejected } from './sign-in.ts'
import * as store from './store.ts'

type Proof = { password: string; code: string }

export async function changePassword(
  app: AppInRequest,
  caller: SessionCaller,
  { new_password, ...proof }: Proof & { new_password: string },
) {
  const person = await requireOwnPerson(app, caller)
  await checkNewPassword(app, new_password, { email: decryptPerson(app, person).email, org_name: person.org_name })
  await checkProof(app, person, proof)
  const password = await hashPassword(app, new_password)
  return inTransaction(app, async (app) => {
    await store.updatePerson(app.db, person.org_id, person.id, { password })
    app.request.setDevice(newDeviceToken(app, { id: person.id, password }))
    await endOtherSessions(app, caller)
    return { success: true }
  })
}

/** The new authenticator's secret stays pending, and the old one valid, until `confirmSecondFactor` gets a code from the new one. */
export async function renewSecondFactor(app: App, caller: SessionCaller, proof: Proof) {
  const person = await requireOwnPerson(app, caller)
  await checkProof(app, person, proof)
  const personal = decryptPerson(app, person)
  const next_totp_secret = toBase32(randomBytes(TOTP_SECRET_BYTES))
  return inTransaction(app, async (app) => {
    const sealed = encryptPerson(app, person, { ...personal, next_totp_secret })
    await store.updatePerson(app.db, person.org_id, person.id, { sealed })
    return { totp_secret: next_totp_secret, totp_uri: totpUri(next_totp_secret, personal.email, person.org_name) }
  })
}

export async function confirmSecondFactor(app: App, caller: SessionCaller, code: string) {
  // Attempts are limited because a correct guess at an unattended console would reveal new recovery codes.
  const limiterKey = `person ${caller.console.actor_id}`
  await countAttempt(app, limiterKey, MAX_ATTEMPTS_PER_PERSON)
  const confirmed = await confirm(app, caller, code)
  await clearAttempts(app, limiterKey)
  return confirmed
}

const confirm = (app: App, caller: SessionCaller, code: string) =>
  inTransaction(app, async (app) => {
    const person = await requireOwnPerson(app, caller)
    const { next_totp_secret, ...personal } = decryptPerson(app, person)
    const totp_step = next_totp_secret && findStep(fromBase32(next_totp_secret), code, app.wall(), 0)
    if (!next_totp_secret || !totp_step) throw wrongCode()
    const sealed = encryptPerson(app, person, { ...personal, totp_secret: next_totp_secret })
    await store.updatePerson(app.db, person.org_id, person.id, { sealed, totp_step })
    await endOtherSessions(app, caller)
    return { recovery_codes: await replaceRecoveryCodes(app, person.id) }
  })

export async function renewRecoveryCodes(app: App, caller: SessionCaller, proof: Proof) {
  const person = await requireOwnPerson(app, caller)
  await checkProof(app, person, proof)
  return inTransaction(app, async (app) => ({ recovery_codes: await replaceRecoveryCodes(app, person.id) }))
}

export async function getAccount(app: App, caller: SessionCaller) {
  const person = await requireOwnPerson(app, caller)
  const { id, role } = person
  const { name, email, totp_secret } = decryptPerson(app, person)
  const { left } = await store.countRecoveryCodes(app.db, id)
  return {
    person: { id, name, email },
    role,
    has_password: totp_secret !== undefined,
    recovery_codes_left: left,
    sessions: await listOwnSessions(app, caller),
  }
}

export const signOutElsewhere = (app: App, caller: SessionCaller) =>
  inTransaction(app, async (app) => {
    await requireOwnPerson(app, caller)
    return { ended: await endOtherSessions(app, caller) }
  })

async function requireOwnPerson(app: App, { org_id, console }: SessionCaller) {
  if (console.kind !== 'person')
    throw problem('NOT_A_PERSON', 'You signed in with a key, which has no password. Sign in with your email instead.')
  const person = await store.findPerson(app.db, org_id, console.actor_id)
  if (!person) throw sessionEnded()
  return person
}

/** An open session does not prove identity, so account changes need the password and a code again. */
async function checkProof(app: App, person: store.PersonRow, { password, code }: Proof) {
  const limiterKey = `person ${person.id}`
  await countAttempt(app, limiterKey, MAX_ATTEMPTS_PER_PERSON)
  const isRight = await verifyPassword(person.password, password)
  if (!isRight || !(await consumeCode(app, person, code))) throw signInRejected()
  await clearAttempts(app, limiterKey)
}
