import { randomBytes } from 'node:crypto'
import { type App, inTransaction } from '../../platform/app.ts'
import type { SessionCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { endOtherSessions, ownSessions } from '../sessions/actions.ts'
import { sessionEnded } from '../sessions/rules.ts'
import { clearAttempts, countAttempt, MAX_ATTEMPTS_PER_PERSON } from '../sessions/sign-in-limiter.ts'
import { wrongCode } from './accept.ts'
import { encryptPerson, personalOf } from './actions.ts'
import { newRecoveryCodes, useCode } from './codes.ts'
import { hashPassword, isPassword } from './passwords.ts'
import * as rules from './rules.ts'
import { base32, fromBase32, stepOf, uriOf } from './rules-totp.ts'
import { signInRefused } from './sign-in.ts'
import * as store from './store.ts'

type Proof = { password: string; code: string }

export async function changePassword(app: App, caller: SessionCaller, { new_password, ...proof }: Proof & { new_password: string }) {
  const person = await ownPerson(app, caller)
  rules.checkPassword(new_password, personalOf(app, person).email)
  await prove(app, person, proof)
  const password = await hashPassword(app, new_password)
  return inTransaction(app, async (app) => {
    await store.updatePerson(app.db, person.org_id, person.id, { password })
    await endOtherSessions(app, caller)
    return { success: true }
  })
}

/** The secret of a new authenticator waits beside the old one until it has shown a code. */
export async function renewSecondFactor(app: App, caller: SessionCaller, proof: Proof) {
  const person = await ownPerson(app, caller)
  await prove(app, person, proof)
  const personal = personalOf(app, person)
  const next_totp_secret = base32(randomBytes(20))
  return inTransaction(app, async (app) => {
    const sealed = encryptPerson(app, person, { ...personal, next_totp_secret })
    await store.updatePerson(app.db, person.org_id, person.id, { sealed })
    return { totp_secret: next_totp_secret, totp_uri: uriOf(next_totp_secret, personal.email, person.org_name) }
  })
}

export async function confirmSecondFactor(app: App, caller: SessionCaller, code: string) {
  // Whoever finds a console open where this was begun could try every code, and recovery codes are what comes of the right one.
  const who = `person ${caller.console.actor_id}`
  await countAttempt(app, who, MAX_ATTEMPTS_PER_PERSON)
  const confirmed = await confirm(app, caller, code)
  await clearAttempts(app, who)
  return confirmed
}

const confirm = (app: App, caller: SessionCaller, code: string) =>
  inTransaction(app, async (app) => {
    const person = await ownPerson(app, caller)
    const { next_totp_secret, ...personal } = personalOf(app, person)
    const totp_step = next_totp_secret && stepOf(fromBase32(next_totp_secret), code, app.wall(), 0)
    if (!next_totp_secret || !totp_step) throw wrongCode()
    const sealed = encryptPerson(app, person, { ...personal, totp_secret: next_totp_secret })
    await store.updatePerson(app.db, person.org_id, person.id, { sealed, totp_step })
    await endOtherSessions(app, caller)
    return { recovery_codes: await newRecoveryCodes(app, person.id) }
  })

export async function renewRecoveryCodes(app: App, caller: SessionCaller, proof: Proof) {
  const person = await ownPerson(app, caller)
  await prove(app, person, proof)
  return inTransaction(app, async (app) => ({ recovery_codes: await newRecoveryCodes(app, person.id) }))
}

export async function getAccount(app: App, caller: SessionCaller) {
  const person = await ownPerson(app, caller)
  const { id, role } = person
  const { name, email } = personalOf(app, person)
  const { left } = await store.countRecoveryCodes(app.db, id)
  return { person: { id, name, email }, role, recovery_codes_left: left, sessions: await ownSessions(app, caller) }
}

/** Everywhere else, at once. */
export const signOutElsewhere = (app: App, caller: SessionCaller) =>
  inTransaction(app, async (app) => {
    await ownPerson(app, caller)
    return { ended: await endOtherSessions(app, caller) }
  })

async function ownPerson(app: App, { org_id, console }: SessionCaller) {
  if (console.kind !== 'person')
    throw problem('NOT_A_PERSON', 'This session was begun with a key, which has no password; sign in as a person.')
  const person = await store.findPerson(app.db, org_id, console.actor_id)
  if (!person) throw sessionEnded()
  return person
}

/** Whoever sits at an open console is not yet the one who opened it. */
async function prove(app: App, person: store.PersonRow, { password, code }: Proof) {
  const who = `person ${person.id}`
  await countAttempt(app, who, MAX_ATTEMPTS_PER_PERSON)
  const right = await isPassword(person.password, password)
  if (!right || !(await useCode(app, person, code))) throw signInRefused()
  await clearAttempts(app, who)
}
