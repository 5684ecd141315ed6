import { createHmac, randomUUID } from 'node:crypto'
import type { AppInTransaction } from '../../../platform/app.ts'
import { derive, type SealingKey } from '../../../platform/sealing/seal.ts'
import { emailHashes, encryptPerson, hashEmail } from '../actions.ts'
import { dummyPasswordHash } from '../passwords.ts'
import * as store from '../store.ts'
import type { GroupScope, Identity, SsoFailure } from './rules.ts'

type Joined = { id: string; change?: 'createSsoMember' | 'updateSsoMember' } | { failure: SsoFailure; id?: string }

/** Finds or creates the person that the provider names, with the access that their groups give now. */
export async function joinBySso(app: AppInTransaction, org_id: string, identity: Identity, scope: GroupScope | undefined): Promise<Joined> {
  const sso_subject = hashSubject(app, identity.subject)
  const known = await store.findBySubject(app.db, org_id, subjectHashes(app, identity.subject))
  // The root secret was rotated since the last sign-in.
  if (known && !known.sso_subject?.equals(sso_subject)) await store.updatePerson(app.db, org_id, known.id, { sso_subject })
  if (known && !scope) return removeAccess(app, known)
  if (!scope) return { failure: 'SSO_NO_ROLE' }
  if (known) return updateMember(app, known, scope)
  const [sameEmail] = await store.findByEmail(app.db, emailHashes(app, identity.email), org_id, 1)
  if (!sameEmail) return createMember(app, org_id, identity, scope)
  // Only a verified email proves that the account belongs to the same person.
  if (!identity.isVerified || sameEmail.sso_subject) return { failure: 'SSO_OTHER_ACCOUNT', id: sameEmail.id }
  await store.updatePerson(app.db, org_id, sameEmail.id, { sso_subject })
  return { ...(await updateMember(app, sameEmail, scope)), change: 'updateSsoMember' }
}

const hashSubject = (app: AppInTransaction, subject: string) => hashSubjectWith(app, app.vault.root, subject)

/** The subject is not stored, so it has the hash of the version of the root at its last sign-in. */
const subjectHashes = (app: AppInTransaction, subject: string) => app.vault.roots.map(({ key }) => hashSubjectWith(app, key, subject))

const hashSubjectWith = ({ config }: AppInTransaction, root: SealingKey, subject: string) =>
  createHmac('sha256', derive(root, 'subjects of single sign-on')).update(`${config.OIDC_ISSUER} ${subject}`).digest()

/** A person who lost their groups keeps the account, but neither open sessions nor a password give access. */
async function removeAccess(app: AppInTransaction, person: store.PersonRow): Promise<Joined> {
  await setScope(app, person, { role: 'no_role', every_team: false, team_ids: [] })
  return { failure: 'SSO_NO_ROLE', id: person.id }
}

async function updateMember(app: AppInTransaction, person: store.PersonRow, scope: GroupScope) {
  const { id, org_id } = person
  const isChanged =
    person.role !== scope.role || person.every_team !== scope.every_team || `${person.team_ids}` !== `${scope.team_ids.toSorted()}`
  if (isChanged) await setScope(app, person, scope)
  await store.updatePerson(app.db, org_id, id, { last_sign_in_at: app.wall() })
  return { id, ...(isChanged ? { change: 'updateSsoMember' as const } : {}) }
}

async function setScope(app: AppInTransaction, { id, org_id }: store.PersonRow, { role, every_team, team_ids }: GroupScope) {
  await store.updatePerson(app.db, org_id, id, { role, every_team })
  await store.bindTeams(app.db, org_id, id, team_ids)
}

/** The person has no authenticator, and a password that nobody knows. */
async function createMember(app: AppInTransaction, org_id: string, { subject, email, name }: Identity, scope: GroupScope): Promise<Joined> {
  const id = randomUUID()
  const { role, every_team, team_ids } = scope
  const sealed = encryptPerson(app, { id, org_id }, { name, email })
  const at = app.wall()
  await store.insertPerson(app.db, {
    ...{ id, org_id, role, every_team, sealed, email_hash: hashEmail(app, email), sso_subject: hashSubject(app, subject) },
    ...{ password: dummyPasswordHash(app), totp_step: 0, created_on: at, last_sign_in_at: at },
  })
  await store.bindTeams(app.db, org_id, id, team_ids)
  return { id, change: 'createSsoMember' }
}
