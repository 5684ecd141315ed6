import type { SignIn } from '../../contract/tenants/sessions.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { problem } from '../../platform/problem.ts'
import { emailHashes } from './actions.ts'
import { consumeCode } from './codes.ts'
import { dummyPasswordHash, verifyPassword } from './passwords.ts'
import { MAX_PEOPLE_PER_EMAIL } from './rules.ts'
import * as store from './store.ts'

type CredentialCheck = { person: store.PersonRow } | { rejected: store.PersonRow | undefined }

/** Checks password and second factor. Every failure takes the same work, so timing does not reveal whether an account exists. */
export async function checkPersonCredentials(app: App, { email, password, code, org_id }: SignIn): Promise<CredentialCheck> {
  if (!code) throw problem('CODE_REQUIRED', 'Send code with email and password: the code from your authenticator, or a recovery code.')
  const people = await store.findByEmail(app.db, emailHashes(app, email ?? ''), org_id, MAX_PEOPLE_PER_EMAIL)
  const passwords = people.length ? people.map((person) => person.password) : [dummyPasswordHash(app)]
  const matching = await Promise.all(passwords.map((hash) => verifyPassword(hash, password ?? '')))
  const candidates = people.filter((_, i) => matching[i])
  if (!candidates.length) return { rejected: people[0] }
  const person = await inTransaction(app, (app) => findByCode(app, candidates, code))
  return person ? { person } : { rejected: candidates[0] }
}

/** A person with the same password in two organizations has one authenticator for each; the code decides. */
async function findByCode(app: App, people: store.PersonRow[], code: string) {
  for (const person of people) {
    if (!(await consumeCode(app, person, code))) continue
    await store.updatePerson(app.db, person.org_id, person.id, { last_sign_in_at: app.wall() })
    return person
  }
  return undefined
}

export const signInRejected = () =>
  problem('SIGN_IN_REFUSED', 'The email, password or code is wrong, or the code was already used. Check them and sign in with a new code.')
