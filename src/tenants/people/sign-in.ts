import type { SignIn } from '../../contract/tenants/sessions.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { problem } from '../../platform/problem.ts'
import { emailHash } from './actions.ts'
import { useCode } from './codes.ts'
import { isPassword, verifyDummyPassword } from './passwords.ts'
import * as store from './store.ts'

/** An e-mail may be of people in so many organisations. */
const MOST = 5

type Found = { person: store.PersonRow } | { wrong: store.PersonRow | undefined }

/** Whoever knows the password and has the second factor. Every refusal costs the same work, and none says what was wrong. */
export async function checkPersonCredentials(app: App, { email, password, code, org_id }: SignIn): Promise<Found> {
  if (!code) throw problem('CODE_REQUIRED', 'Send the code of the authenticator, or a recovery code, with e-mail and password.')
  const known = await store.findByEmail(app.db, emailHash(app, email ?? ''), org_id, MOST)
  const kept = known.length ? known.map((person) => person.password) : [verifyDummyPassword(app)]
  const right = await Promise.all(kept.map((one) => isPassword(one, password ?? '')))
  const able = known.filter((_, i) => right[i])
  if (!able.length) return { wrong: known[0] }
  const person = await inTransaction(app, (app) => whoseCode(app, able, code))
  return person ? { person } : { wrong: able[0] }
}

/** Somebody who has the same password in two organisations has an authenticator for each. */
async function whoseCode(app: App, people: store.PersonRow[], code: string) {
  for (const person of people) {
    if (!(await useCode(app, person, code))) continue
    await store.updatePerson(app.db, person.org_id, person.id, { last_sign_in_at: app.wall() })
    return person
  }
  return undefined
}

export const signInRefused = () => problem('SIGN_IN_REFUSED', 'E-mail, password or code are wrong, or the code was used before.')
